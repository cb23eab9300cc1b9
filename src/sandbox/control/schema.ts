/**
 * The few JSON Schema shapes that control operations take, and the TypeScript type that each
 * stands for, so that a shape is written once and checked in both worlds.
 */
export const integer = { type: 'integer' } as const
export const string = { type: 'string' } as const
export const boolean = { type: 'boolean' } as const
export const stringOrNull = { type: ['string', 'null'] } as const
export const integerOrNull = { type: ['integer', 'null'] } as const
/** Anything at all. */
export const any = {} as const

export function oneOf<const V extends readonly string[]>(values: V): { enum: V } {
  return { enum: values }
}

export function list<S>(items: S): { type: 'array'; items: S } {
  return { type: 'array', items }
}

/** An object of exactly these properties. */
export function object<P extends object, O extends object = object>(
  required: P,
  optional: O = {} as O,
): ObjectShape<P, O> {
  return {
    type: 'object',
    additionalProperties: false,
    required: Object.keys(required),
    properties: { ...required, ...optional },
  }
}

/** A JSON Schema for an object; `P` and `O` are carried for the type alone. */
export interface ObjectShape<P extends object, O extends object> {
  type: 'object'
  additionalProperties: false
  required: string[]
  properties: P & O
  readonly _shape?: { required: P; optional: O }
}

/** The TypeScript type of a shape. */
export type Shaped<S> =
  S extends ObjectShape<infer P, infer O>
    ? { [K in keyof P]: Shaped<P[K]> } & { [K in keyof O]?: Shaped<O[K]> | undefined }
    : S extends { enum: readonly (infer V)[] }
      ? V
      : S extends { type: 'array'; items: infer I }
        ? Shaped<I>[]
        : S extends { type: 'integer' }
          ? number
          : S extends { type: 'string' }
            ? string
            : S extends { type: 'boolean' }
              ? boolean
              : S extends { type: readonly ['string', 'null'] }
                ? string | null
                : S extends { type: readonly ['integer', 'null'] }
                  ? number | null
                  : unknown
