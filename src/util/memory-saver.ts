import { setFlagsFromString } from 'node:v8'

/** How long after the last work the engine saves memory again. */
const REST_MS = 30_000
const SAVER = '--memory-saver-mode'

let timer: NodeJS.Timeout | undefined

/**
 * There is work: V8 stops saving memory, which costs a quarter of the processor time of a call, until
 * there is none for a while. Only in a process that was started to save it.
 */
export function noteCalls(): void {
  if (timer !== undefined) return void timer.refresh()
  if (!process.execArgv.includes(SAVER)) return
  setFlagsFromString(SAVER.replace('--', '--no-'))
  timer = setTimeout(() => {
    timer = undefined
    setFlagsFromString(SAVER)
  }, REST_MS).unref()
}
