/**
 * Whether work that is begun also ends. A request that was answered in time, or whose caller left, is
 * progress; one that was answered by its time limit is not. Times in milliseconds of one clock.
 */
export class Progress {
  #workingCount = 0
  /** Of the last progress, or of the first request after nothing was in work. */
  #sinceMs = 0

  get workingCount(): number {
    return this.#workingCount
  }

  begin(nowMs: number): void {
    if (this.#workingCount === 0) this.#sinceMs = nowMs
    this.#workingCount += 1
  }

  end(nowMs: number, isLate: boolean): void {
    this.#workingCount -= 1
    if (!isLate) this.#sinceMs = nowMs
  }

  /** True when requests are in work and none has ended in time for longer than `limitMs`. */
  isStuck(nowMs: number, limitMs: number): boolean {
    return this.#workingCount > 0 && nowMs - this.#sinceMs > limitMs
  }
}
