const pauseMs = 50
/** Only ends a test that would hang. */
const patienceMs = 120_000

/** Waits until something is so. @throws Error naming what never came */
export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + patienceMs
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`waited in vain until ${what}`)
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}
