/**
 * How a word may stand in bytes: as it is, inside JSON, in a URL, in hexadecimal, and in base64 at
 * each of the three places where it may begin.
 */
export function spellings(word: string): string[] {
  const bytes = Buffer.from(word)
  const inBase64 = [0, 1, 2].map((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64')
    return text.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6))
  })
  const inJson = JSON.stringify(word).slice(1, -1)
  return [
    ...new Set([word, inJson, encodeURIComponent(word), bytes.toString('hex'), ...inBase64]),
  ].filter((spelling) => spelling !== '')
}
