import { z } from 'zod'
import type { Command } from './command.ts'
import { readId32, readReason, readValue, reasonFlag } from './readValue.ts'
import { tableOf } from './tableOf.ts'

const endings = ['paid', 'failed'] as const
const ending = z.enum(endings, `expected one of ${endings.join(', ')}`)
const listedMax = 1_000

export const claimCommands: readonly Command[] = [
  {
    words: 'claims pending',
    about: 'List claims of app fees that wait for their payout, longest first',
    async run({ administration }) {
      const claims = await administration.appFeeClaims.pending({ limit: listedMax })
      const rows = claims.map(({ claimId, wallet, asset, amount, createdAt }) => ({
        claim: claimId,
        wallet,
        chain: asset.chainId.toString(),
        amount: `${amount} ${asset.symbol}`,
        since: createdAt.toISOString(),
      }))
      return { data: { claims }, lines: rows.length === 0 ? ['No claim is pending.'] : tableOf(rows) }
    },
  },
  {
    words: 'claims end',
    changes: true,
    about: 'End a claim that nothing moves on: paid by its reported transaction, or failed (claimable again)',
    operands: ['claim'],
    flags: {
      as: { value: '<ending>', about: `One of ${endings.join(', ')}`, isRequired: true },
      reason: reasonFlag,
    },
    async run({ administration, actor }, args) {
      const claimId = readId32(args.operand('claim'), '<claim>')
      const chosen = readValue(ending, args.text('as'), '--as')
      await administration.appFeeClaims.end(claimId, chosen, { actor, reason: readReason(args) })
      return { data: { claimId, ending: chosen }, lines: [`Claim ${claimId} is ${chosen}.`] }
    },
  },
]
