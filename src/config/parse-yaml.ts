import { isScalar, LineCounter, parseDocument, visit, YAMLParseError } from 'yaml'

/**
 * Parses one YAML document, in a time that grows with its length. A key given twice is among its
 * errors, as `DUPLICATE_KEY`: the library's own check compares each key with each other.
 * @returns what it holds, not yet turned into values; `at` gives `LINE:COLUMN` of an offset
 * @throws RangeError when it is nested too deep
 */
export function parseYaml(text: string) {
  const lineCounter = new LineCounter()
  const document = parseDocument(text, { lineCounter, prettyErrors: false, uniqueKeys: false })
  visit(document, {
    Map: (_key, { items }) => {
      const seen = new Set<unknown>()
      for (const { key } of items) {
        if (!isScalar(key)) continue
        const [start, end] = key.range ?? [0, 0]
        if (seen.has(key.value)) {
          const message = 'Map keys must be unique'
          document.errors.push(new YAMLParseError([start, end], 'DUPLICATE_KEY', message))
        }
        seen.add(key.value)
      }
    },
  })
  const at = (offset: number): string => {
    const { line, col } = lineCounter.linePos(offset)
    return `${line}:${col}`
  }
  return { document, at }
}
