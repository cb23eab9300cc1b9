type Schema = Record<string, unknown>

/**
 * Paths of the fields in a value that its schema does not name, such as `0.chat.extra`.
 * @param root where references lead; the schema itself when absent
 */
export function undeclaredFields(
  schema: object,
  value: unknown,
  { root = schema, path = [] }: { root?: object; path?: readonly string[] } = {},
): string[] {
  const known = resolve(schema as Schema, root)
  if (Array.isArray(value)) {
    return value.flatMap((inner, index) =>
      undeclaredFields(known['items'] ?? {}, inner, { root, path: [...path, String(index)] }),
    )
  }
  if (typeof value !== 'object' || value === null) return []
  const alternatives = ((known['anyOf'] ?? known['oneOf'] ?? []) as Schema[]).filter(
    ({ type }) => type !== 'null',
  )
  if (alternatives.length > 0) {
    const found = alternatives.map((one) => undeclaredFields(one, value, { root, path }))
    return found.toSorted((a, b) => a.length - b.length)[0] ?? []
  }
  const properties = (known['properties'] ?? {}) as Record<string, object>
  const others = known['additionalProperties']
  const isOpen = known['properties'] === undefined
  return Object.entries(value).flatMap(([name, inner]) => {
    const at = [...path, name]
    const field = properties[name] ?? (isOpen ? (others ?? {}) : undefined)
    return field === undefined ? [at.join('.')] : undeclaredFields(field, inner, { root, path: at })
  })
}

function resolve(schema: Schema, root: object): Schema {
  const { $ref: reference } = schema
  if (typeof reference !== 'string') return schema
  const found = reference
    .slice(2)
    .split('/')
    .reduce<unknown>((at, name) => (at as Schema)[name], root)
  return resolve(found as Schema, root)
}
