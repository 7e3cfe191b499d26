/** Meeting point at which sources that started together agree on the height of their next question. */
export type Rendezvous<First, Pin> = {
  /** The choice, once it is made; `undefined` when too few are left to make one. */
  arrive(first: First, voice: string): Promise<{ readonly pin: Pin } | undefined>
  /** One source fewer will arrive. */
  fail(): void
  /** Ends the waiting of all. */
  close(): void
}

/**
 * Chooses when all that can arrive have arrived, or `patienceMs` after enough voices have: a slow minority
 * delays the choice a little and never stops it. Those that arrive later get the same choice. What a voice
 * said first is its part in the choice, through however many URLs it speaks.
 */
export function createRendezvous<First, Pin>(args: {
  /** Sources that were asked. */
  readonly expected: number
  /** Voices that make a choice. */
  readonly needed: number
  readonly patienceMs: number
  readonly choose: (firsts: readonly First[]) => Pin
}): Rendezvous<First, Pin> {
  const { expected, needed, patienceMs, choose } = args
  const firsts = new Map<string, First>()
  let arrived = 0
  const waiting: ((choice: { readonly pin: Pin } | undefined) => void)[] = []
  let failed = 0
  let timer: NodeJS.Timeout | undefined
  let choice: { readonly pin: Pin } | undefined
  let closed = false

  const finish = () => {
    clearTimeout(timer)
    for (const go of waiting.splice(0)) go(choice)
  }
  const decide = () => {
    choice ??= { pin: choose([...firsts.values()]) }
    finish()
  }
  const look = () => {
    if (choice !== undefined || closed) return finish()
    if (expected - failed < needed) return finish()
    if (firsts.size >= needed && arrived + failed >= expected) return decide()
    if (arrived + failed >= expected) return finish()
    if (firsts.size >= needed) timer ??= setTimeout(decide, patienceMs)
  }
  return {
    arrive(first, voice) {
      arrived += 1
      if (!firsts.has(voice)) firsts.set(voice, first)
      return new Promise((resolve) => {
        waiting.push(resolve)
        look()
      })
    },
    fail() {
      failed += 1
      look()
    },
    close() {
      closed = true
      finish()
    },
  }
}
