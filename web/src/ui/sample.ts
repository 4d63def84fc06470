// A picture drawn on the spot, so that the example requests about pictures work on a machine that has none at hand.

/** Paints the picture: a house by a lake under a low sun. */
function paint(canvas: HTMLCanvasElement, width = 960, height = 640): void {
  canvas.width = width;
  canvas.height = height;
  const c = canvas.getContext("2d");
  if (!c) return;
  c.scale(width / 960, height / 640);
  const fill = (style: string | CanvasGradient, draw: () => void) => {
    c.fillStyle = style;
    c.beginPath();
    draw();
    c.fill();
  };
  const sky = c.createLinearGradient(0, 0, 0, 400);
  sky.addColorStop(0, "#4f86c6");
  sky.addColorStop(0.65, "#f3c9a0");
  sky.addColorStop(1, "#f7e3c4");
  fill(sky, () => c.rect(0, 0, 960, 640));
  fill("#fff3d0", () => c.arc(690, 250, 52, 0, 7));
  const hills: [string, number[]][] = [
    ["#8fa6b8", [0, 330, 150, 235, 300, 320, 430, 215, 600, 330, 780, 240, 960, 335]],
    ["#5f7f78", [0, 380, 190, 310, 420, 385, 650, 320, 960, 390]],
  ];
  for (const [colour, p] of hills)
    fill(colour, () => {
      c.moveTo(0, 640);
      for (let i = 0; i < p.length; i += 2) c.lineTo(p[i] ?? 0, p[i + 1] ?? 0);
      c.lineTo(960, 640);
    });
  fill("#3f6f93", () => c.rect(0, 400, 960, 110));
  c.fillStyle = "#f3d9b1";
  for (let i = 0; i < 13; i++) c.fillRect(640 + ((i * 37) % 90) - i, 408 + i * 7, 100 - i * 6, 2.5);
  fill("#4d7a45", () => {
    c.moveTo(0, 470);
    c.bezierCurveTo(250, 430, 420, 520, 960, 490);
    c.lineTo(960, 640);
    c.lineTo(0, 640);
  });
  fill("#e9e1d3", () => c.rect(190, 350, 210, 150));
  fill("#a8443a", () => {
    c.moveTo(165, 355);
    c.lineTo(295, 262);
    c.lineTo(425, 355);
  });
  fill("#6b2f2a", () => c.rect(350, 275, 26, 50));
  fill("#5a3b2e", () => c.rect(275, 420, 44, 80));
  fill("#2f4a5c", () => {
    c.rect(212, 385, 44, 44);
    c.rect(338, 385, 44, 44);
  });
  for (const [x, y, s] of [
    [560, 505, 1],
    [650, 530, 1.3],
    [90, 500, 1.15],
  ] as const) {
    fill("#4b3426", () => c.rect(x - 6 * s, y - 20 * s, 12 * s, 50 * s));
    for (let i = 0; i < 3; i++)
      fill(i % 2 ? "#2f5f3a" : "#28533a", () => {
        c.moveTo(x - (52 - i * 12) * s, y - (10 + i * 38) * s);
        c.lineTo(x, y - (80 + i * 38) * s);
        c.lineTo(x + (52 - i * 12) * s, y - (10 + i * 38) * s);
      });
  }
}

export type Effect = "edges" | "regions" | "turned" | "grey";

/** The picture small, its right half as the request would leave it. */
export function preview(canvas: HTMLCanvasElement, effect: Effect): void {
  const [width, height] = [156, 104];
  paint(canvas, width, height);
  const c = canvas.getContext("2d", { willReadFrequently: true });
  if (!c) return;
  const image = c.getImageData(0, 0, width, height);
  const from = image.data.slice();
  const at = (x: number, y: number) =>
    (Math.max(0, Math.min(height - 1, y)) * width + Math.max(0, Math.min(width - 1, x))) * 4;
  const light = (x: number, y: number) =>
    [0.3, 0.59, 0.11].reduce((sum, part, i) => sum + part * (from[at(x, y) + i] ?? 0), 0);
  const colours: Record<Effect, (x: number, y: number) => number[]> = {
    edges: (x, y) => {
      const steep = Math.hypot(light(x + 1, y) - light(x - 1, y), light(x, y + 1) - light(x, y - 1)) > 24;
      return steep ? [245, 246, 248] : [16, 18, 20];
    },
    regions: (x, y) => {
      const level = Math.floor(light(x, y) / 36);
      return (
        [
          [61, 64, 91],
          [129, 178, 154],
          [224, 122, 95],
          [242, 204, 143],
          [106, 141, 199],
          [244, 241, 222],
          [190, 149, 196],
        ][level % 7] ?? []
      );
    },
    turned: (x, y) => [...from.slice(at(width - 1 - x, height - 1 - y), at(width - 1 - x, height - 1 - y) + 3)],
    grey: (x, y) => Array<number>(3).fill(light(x, y)),
  };
  for (let y = 0; y < height; y++)
    for (let x = width / 2; x < width; x++)
      image.data.set(x < width / 2 + 2 ? [255, 255, 255] : colours[effect](x, y), at(x, y));
  c.putImageData(image, 0, 0);
}

/** The picture as a file to upload. */
export function samplePicture(name: string): Promise<File> {
  const canvas = document.createElement("canvas");
  paint(canvas);
  return new Promise((resolve, reject) => {
    canvas.toBlob(
      (blob) => (blob ? resolve(new File([blob], name, { type: "image/png" })) : reject(new Error("no picture"))),
      "image/png",
    );
  });
}
