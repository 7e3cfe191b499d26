/** The place where sources wait after the first round of a question, until the height of the second round is chosen. */
export type Rendezvous<First, Pin> = {
  /** Waits for the choice; `undefined` if too few sources are left to make one, or `close` was called before. */
  arrive(first: First, voice: string): Promise<{ readonly pin: Pin } | undefined>
  /** A source failed in the first round and will not arrive. */
  fail(): void
  /** Releases all who wait. */
  close(): void
}

/**
 * Makes the choice when all sources have arrived or failed, or `patienceMs` after enough voices have arrived, so that a
 * slow minority delays it only a little. Later sources get the same choice. Each voice takes part once, with its first
 * reading, however many URLs it has.
 */
export function createRendezvous<First, Pin>(args: {
  /** Sources that were asked. */
  readonly expected: number
  /** Voices that are enough for a choice. */
  readonly needed: number
  readonly patienceMs: number
  readonly choose: (firsts: readonly First[]) => Pin
}): Rendezvous<First, Pin> {
  const { expected, needed, patienceMs, choose } = args
  const firsts = new Map<string, First>()
  let arrived = 0
  const waitingResolvers: ((choice: { readonly pin: Pin } | undefined) => void)[] = []
  let failed = 0
  let timer: NodeJS.Timeout | undefined
  let choice: { readonly pin: Pin } | undefined
  let isClosed = false

  const finish = () => {
    clearTimeout(timer)
    for (const resolveWaiting of waitingResolvers.splice(0)) resolveWaiting(choice)
  }
  const decide = () => {
    choice ??= { pin: choose([...firsts.values()]) }
    finish()
  }
  const decideIfReady = () => {
    if (choice !== undefined || isClosed) return finish()
    // Too few sources are left for a choice.
    if (expected - failed < needed) return finish()
    const hasAll = arrived + failed >= expected
    if (firsts.size >= needed && hasAll) return decide()
    // All have come, but as too few voices.
    if (hasAll) return finish()
    if (firsts.size >= needed) timer ??= setTimeout(decide, patienceMs)
  }
  return {
    arrive(first, voice) {
      arrived += 1
      if (!firsts.has(voice)) firsts.set(voice, first)
      return new Promise((resolve) => {
        waitingResolvers.push(resolve)
        decideIfReady()
      })
    },
    fail() {
      failed += 1
      decideIfReady()
    },
    close() {
      isClosed = true
      finish()
    },
  }
}
