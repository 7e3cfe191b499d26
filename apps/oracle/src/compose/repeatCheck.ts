/** Repeats `check`, which must not reject, with a pause after each. It does not keep the process alive. */
export function repeatCheck(check: () => Promise<void>, intervalMs: number): { stop(): void } {
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  const schedule = () => {
    if (isStopped) return
    timer = setTimeout(() => void check().finally(schedule), intervalMs).unref()
  }
  schedule()
  return {
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}
