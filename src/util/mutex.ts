/** Runs tasks one after the other, in the order in which they came. */
export class Mutex {
  #last: Promise<unknown> = Promise.resolve()

  /**
   * Runs a task when every earlier one has ended, however it ended.
   * @returns what the task returns; do not wait for it inside another task: neither would end
   * @throws what the task throws; later tasks run all the same
   */
  run<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#last.then(task)
    this.#last = result.catch(() => undefined)
    return result
  }
}
