import { readFileSync } from 'node:fs'
import type { StoredBody } from '@causeway/localnet/standIns/bodies'
import { z } from 'zod'

const recordedTransaction = z.strictObject({
  provenance: z.literal('recorded'),
  source: z.string().min(1),
  proves: z.array(z.string().min(1)).min(1),
  network: z.enum(['devnet', 'mainnet-beta']),
  transactionId: z.string(),
  /** Text: some of its numbers are too large for JSON readers. */
  body: z.string(),
})

/** Results of `getTransaction`. */
export const recordedTransactions = z
  .array(recordedTransaction)
  .parse(
    JSON.parse(readFileSync(new URL('./recordedTransactions.json', import.meta.url), 'utf8')),
  ) satisfies readonly StoredBody[]
