//! Parts of schemas that derives do not make: free values, fixed words, files, and unions that a field tells apart.

use std::borrow::Cow;

use utoipa::openapi::schema::{AdditionalProperties, SchemaFormat, SchemaType};
use utoipa::openapi::{KnownFormat, Object, ObjectBuilder, Ref, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

/// The schema of a value that is free: what tools and models take and give.
pub(crate) enum AnyJson {}

impl PartialSchema for AnyJson {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(SchemaType::AnyValue).description(Some("Any JSON value.")).into()
    }
}

impl ToSchema for AnyJson {}

/// The schema of an object whose members are free.
pub(crate) enum AnyObject {}

impl PartialSchema for AnyObject {
    fn schema() -> RefOr<Schema> {
        free_object("A JSON object with any members.")
    }
}

impl ToSchema for AnyObject {}

/// The schema of a JSON Schema.
pub(crate) enum JsonSchema {}

impl PartialSchema for JsonSchema {
    fn schema() -> RefOr<Schema> {
        free_object("A JSON Schema, as an object with any of its keywords.")
    }
}

impl ToSchema for JsonSchema {}

fn free_object(about: &str) -> RefOr<Schema> {
    let object = ObjectBuilder::new().schema_type(Type::Object).description(Some(about));
    object.additional_properties(Some(AdditionalProperties::<Schema>::FreeForm(true))).into()
}

/// The bytes of a file.
pub(crate) enum FileBytes {}

impl PartialSchema for FileBytes {
    fn schema() -> RefOr<Schema> {
        let format = SchemaFormat::KnownFormat(KnownFormat::Binary);
        ObjectBuilder::new().schema_type(Type::String).format(Some(format)).description(Some("Bytes.")).into()
    }
}

impl ToSchema for FileBytes {}

/// The schema of a field that is always this word.
pub(crate) fn word(word: &str) -> Object {
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some([word])).build()
}

/// The schema of a field that is always null.
pub(crate) fn null() -> Object {
    ObjectBuilder::new().schema_type(Type::Null).description(Some("Always null.")).build()
}

/// A reference to a schema among the components.
pub(crate) fn reference(name: Cow<'_, str>) -> RefOr<Schema> {
    Ref::from_schema_name(name).into()
}

/// Makes a union of objects that a field with a fixed word tells apart, each a schema of its own. The second block holds the fields that
/// they have in common.
///
/// utoipa writes the variants of a tagged enum in place; generators of clients give such variants no names that people can use.
macro_rules! tagged {
    (@variant [$($attribute:tt)*] [$($style:tt)*] $tag:literal $word:literal $name:ident { $($common:tt)* } { $($fields:tt)* }) => {
        $($attribute)*
        #[derive(utoipa::ToSchema)]
        $($style)*
        #[allow(dead_code, reason = "only its schema is used")]
        pub(crate) struct $name {
            #[schema(rename = $tag, schema_with = $name::word)]
            tag: (),
            $($common)*
            $($fields)*
        }

        impl $name {
            fn word() -> utoipa::openapi::Object {
                $crate::wire::schema::word($word)
            }
        }
    };
    (
        $(#[doc = $about:literal])* $union:ident by $tag:literal $style:tt $common:tt
        $($(#[$attribute:meta])* $word:literal $name:ident $fields:tt)*
    ) => {
        $(tagged!(@variant [$(#[$attribute])*] $style $tag $word $name $common $fields);)*

        $(#[doc = $about])*
        pub(crate) enum $union {}

        impl utoipa::PartialSchema for $union {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                use utoipa::ToSchema as _;
                let words = [$(($word, format!("#/components/schemas/{}", $name::name()))),*];
                let union = utoipa::openapi::OneOfBuilder::new().description(Some(concat!($($about),*).trim()));
                let union = union.discriminator(Some(utoipa::openapi::Discriminator::with_mapping($tag, words)));
                union$(.item($crate::wire::schema::reference($name::name())))*.into()
            }
        }

        impl utoipa::ToSchema for $union {
            fn schemas(
                schemas: &mut Vec<(String, utoipa::openapi::RefOr<utoipa::openapi::Schema>)>,
            ) {
                use utoipa::PartialSchema as _;
                $(
                    schemas.push(($name::name().into_owned(), $name::schema()));
                    $name::schemas(schemas);
                )*
            }
        }
    };
}

pub(crate) use tagged;
