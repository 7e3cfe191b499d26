import { marketHealthSchema } from '@causeway/market'

export type PriceAges = {
  /** Since a price was last read from its source and since a chain's head was made, at each look. */
  readonly priceReadMs: readonly number[]
  readonly headMs: readonly number[]
  /** Looks at which a price was refused or a chain was in no state to be quoted. */
  readonly unusable: number
}

const everyMs = 500

/** Looks at what quotes are priced from while they are asked for; ends with `stop`. */
export function watchPriceAges(url: string): { stop(): Promise<PriceAges> } {
  const priceReadMs: number[] = []
  const headMs: number[] = []
  let unusable = 0
  let looking: Promise<void> = Promise.resolve()
  async function look(): Promise<void> {
    const response = await fetch(`${url}/prices/health`)
    const { prices, chains } = marketHealthSchema.parse(await response.json())
    const sources = prices.flatMap((price) => price.sources)
    priceReadMs.push(...sources.flatMap(({ readAgeMs }) => (readAgeMs === undefined ? [] : [readAgeMs])))
    headMs.push(...chains.flatMap(({ head }) => (head === undefined ? [] : [head.ageMs])))
    const isUnusable =
      prices.some(({ confidence }) => confidence === 'refused') || chains.some(({ state }) => state !== 'ok')
    if (isUnusable) unusable += 1
  }
  const timer = setInterval(() => {
    looking = look().catch(() => {
      unusable += 1
    })
  }, everyMs)
  return {
    async stop() {
      clearInterval(timer)
      await looking
      return { priceReadMs, headMs, unusable }
    },
  }
}
