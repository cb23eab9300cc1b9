let count = 0

/** Words that are new in this process. */
export function words(): string {
  return `these are contract words no ${++count}.`
}

/** Finds such words in a text. */
export const WORDS = /these are contract words no \d+\./
