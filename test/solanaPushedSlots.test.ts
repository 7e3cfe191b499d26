// Goal: what happens on Solana is acted on when a slot is told of. The clock is set to minutes here, so that nothing but
// a push can end a wait. What a lying or flooding endpoint does to the subscription is in `headPushes.test.ts`.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSponsor } from '../apps/quote-api/test/sponsorSupport/sponsors.ts'
import {
  instructionsOf,
  quoteOver,
  type SolanaSettling,
  startSolanaSettling,
} from './support/solanaSettling.ts'

type QuoteFile = { readonly chains: Readonly<Record<string, object>> }

let at: SolanaSettling
beforeAll(async () => {
  at = await startSolanaSettling({
    tellsOfSlots: true,
    describe(file) {
      // CAST: the file was just written, with these chains.
      const { chains, ...rest } = file as QuoteFile
      return { ...rest, chains: { ...chains, solana: { ...chains['solana'], blockTimeMs: 600_000 } } }
    },
  })
}, 180_000)
afterAll(() => at?.stop())

test('deposits on Solana become work by slots that are told of alone', async () => {
  const sponsor = await createSponsor(at.database, 1_000_000_000n)
  // The first one may still be met by the look that every start begins with. Nothing is reported meanwhile, because a
  // report has every chain looked at.
  for (const _ of [1, 2, 3]) {
    const quote = await quoteOver(at, 'from', {}, sponsor)
    const paid = await at.solana.bed.send(instructionsOf(quote))
    const item = await at.requests.workFor(quote, 'fill')
    expect(item.payload).toMatchObject({ deposits: [{ transactionId: paid }] })
  }
})
