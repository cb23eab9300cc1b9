/** A heading as code hosts link to it. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-')

/** Numbers anchors of the same words on one page. */
export function numbered(): (anchor: string) => string {
  const found = new Set<string>()
  return (anchor) => {
    let name = anchor
    for (let count = 1; found.has(name); count++) name = `${anchor}-${count}`
    found.add(name)
    return name
  }
}
