// A table from CSV, by Papa Parse. Loaded when the first table is shown.
import Papa from "papaparse";

export interface Table {
  head: string[];
  rows: string[][];
  /** How many rows there are, also those that are not here. */
  all: number;
}

/** The first rows of a table. */
export function read(csv: string, most: number): Table {
  const { data } = Papa.parse<string[]>(csv, { skipEmptyLines: true });
  const [head = [], ...rows] = data;
  return { head, rows: rows.slice(0, most), all: rows.length };
}
