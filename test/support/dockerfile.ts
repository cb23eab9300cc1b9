import { readFileSync } from 'node:fs'

/** What a stage of the Dockerfile sets. */
export interface StageSettings {
  Entrypoint: string[]
  Healthcheck: { Test: string[] }
}

const SETTINGS = ['EXPOSE', 'HEALTHCHECK', 'ENTRYPOINT']

/**
 * Reads a stage that adds nothing but settings to the stage `runtime`, on which the sidecar's image
 * stands too.
 * @throws Error when there is no such stage, or it does more
 */
export function readStage(name: string): StageSettings {
  const stages = readFileSync('Dockerfile', 'utf8').split(/^FROM /m)
  const stage = stages.find((one) => one.startsWith(`runtime AS ${name}\n`))
  const [, ...lines] = (stage ?? '').replaceAll('\\\n', ' ').split('\n')
  const settings = lines.filter((line) => line !== '' && !line.startsWith('#'))
  const others = settings.filter((line) => !SETTINGS.some((word) => line.startsWith(`${word} `)))
  if (settings.length === 0 || others.length > 0) {
    throw new Error(`the stage ${name} is not there, or does more than set: ${others.join('; ')}`)
  }
  const listAfter = (word: string): string[] => {
    const found = settings.map((line) => new RegExp(`^${word}.*?(\\[.*\\])$`).exec(line)?.[1])
    return JSON.parse(found.find((list) => list !== undefined) ?? '[]') as string[]
  }
  return {
    Entrypoint: listAfter('ENTRYPOINT'),
    Healthcheck: { Test: ['CMD', ...listAfter('HEALTHCHECK')] },
  }
}
