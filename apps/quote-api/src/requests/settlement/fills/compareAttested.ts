import { fillMessageId, type Hex, type RecoverSigner, type SqlDatabase } from '@causeway/core'
import { signingDigest } from '@causeway/families/rules'
import { z } from 'zod'
import { bookedFor } from '../amounts/depositShare.ts'
import { readDeposit, type StoredDeposit } from '../deposits/depositStore.ts'
import { readSettledRequest, type SettledRequest } from '../settledRequest.ts'
import { type AttestationContext, fillMessage } from './attestFills.ts'

/** A sponsor's debit that its proof does not support. `not_posted`: the request is settled, but its debit is missing. */
export type UnprovenDebit = {
  readonly requestId: Hex
  readonly problem: 'amount' | 'message' | 'signatures' | 'no_order' | 'not_posted'
  /**
   * Micro-USDC by which posted and attested amount differ: with the problem `amount` the real difference,
   * with `not_posted` the missing debit, else all that was posted, because no amount is proven.
   */
  readonly differenceMicroUsd: bigint
}

/** Outcome of one comparison. */
export type Comparison = {
  /** Number of resolved holds that were compared. */
  readonly compared: number
  readonly unproven: readonly UnprovenDebit[]
  /** Sequence number of the last compared transfer, after which the next comparison begins. */
  readonly upToSeq: bigint
}

type ProofContext = Pick<AttestationContext, 'chains' | 'networkOf' | 'threshold'> & {
  readonly database: SqlDatabase
  readonly oracles: readonly { readonly signer: Hex }[]
  readonly recover: RecoverSigner
}

const pageSize = 500

/**
 * SQL of transfers of the last two hours that ended a hold. Older ones need no second check, because the books are append-only
 * and their hashes are chained every hour.
 */
const selectEndingTransfers = `
  select t.seq, t.kind, t.amount, '0x' || encode(t.request_id, 'hex') as request_id, t.evidence, s.stage,
    exists (select from hold h where h.request_id = t.request_id and h.state = 'posted') as is_posted
  from transfer t left join settlement s on s.request_id = t.request_id
  where t.seq > $1 and t.pending_id is not null and t.request_id is not null
    and t.created_at > clock_timestamp() - interval '2 hours'
  order by t.seq limit ${pageSize}`

/** Far more transfers than two hours have; the first comparison starts so many before the newest one. */
const firstLookTransfers = 100_000n

/** A transfer that ended a hold, with the stage of its request. */
type EndingTransfer = {
  readonly seq: bigint
  readonly kind: 'post' | 'void' | 'expire'
  readonly amount: bigint
  readonly request_id: Hex
  readonly evidence: unknown
  readonly stage: string | null
  readonly is_posted: boolean
}

/**
 * Compares sponsors' debits with the attestations. Every debit must have the signatures of enough oracles over the message of
 * its order, deposit and fill, and the amount that its deposit books. Every settled request must have its debit. Reads only.
 * @param afterSeq `upToSeq` of the comparison before; undefined for the first one of a process
 */
export async function compareAttested(
  context: ProofContext,
  afterSeq: bigint | undefined,
  signal: AbortSignal,
): Promise<Comparison> {
  const { database } = context
  let seq = afterSeq ?? (await firstSeq(database))
  let compared = 0
  const unproven: UnprovenDebit[] = []
  while (!signal.aborted) {
    const page = await database.query<EndingTransfer>(selectEndingTransfers, [seq])
    for (const transfer of page) {
      const problem = await compareTransfer(context, transfer)
      if (problem !== undefined) unproven.push(problem)
    }
    compared += page.length
    seq = page.at(-1)?.seq ?? seq
    if (page.length < pageSize) break
  }
  return { compared, unproven, upToSeq: seq }
}

async function firstSeq(database: Pick<SqlDatabase, 'query'>): Promise<bigint> {
  const [row] = await database.query<{ seq: bigint | null }>('select max(seq) as seq from transfer')
  return (row?.seq ?? 0n) - firstLookTransfers
}

async function compareTransfer(
  context: ProofContext,
  transfer: EndingTransfer,
): Promise<UnprovenDebit | undefined> {
  const { database } = context
  const requestId = transfer.request_id
  // A hold that ended without a debit is a problem only if its request is settled and has no debit elsewhere.
  if (transfer.kind !== 'post' && (transfer.stage !== 'settled' || transfer.is_posted)) return undefined
  const request = await readSettledRequest(database, requestId)
  const postedMicroUsd = transfer.kind === 'post' ? transfer.amount : 0n
  if (request === undefined) return { requestId, problem: 'no_order', differenceMicroUsd: postedMicroUsd }
  const { settlement } = request
  const deposit = settlement && (await readDeposit(database, settlement.depositId))
  const debitMicroUsd = debitOf(request, deposit, transfer.evidence)
  if (transfer.kind !== 'post')
    return debitMicroUsd === 0n
      ? undefined
      : { requestId, problem: 'not_posted', differenceMicroUsd: debitMicroUsd }
  const message = deposit && fillMessage(context, request, deposit)
  const proof = {
    ...transfer,
    messageId: message && fillMessageId(message, context.networkOf),
    debitMicroUsd,
  }
  const judged = judgeDebit(proof, context)
  return judged && { requestId, ...judged }
}

/** The debit that a deposit books. Evidence without `bookedInput` is of an older release, which booked the quote. */
function debitOf(request: SettledRequest, deposit: StoredDeposit | undefined, evidence: unknown): bigint {
  const hasBookedInput = z.object({ bookedInput: z.string() }).safeParse(evidence).success
  if (!hasBookedInput || deposit === undefined) return request.debitMicroUsd
  return bookedFor(request, deposit.amount).debitMicroUsd
}

const evidenceSchema = z.object({
  kind: z.literal('solver-fill'),
  messageId: z.string(),
  signatures: z.array(z.object({ signature: z.string() })),
})

/** Problem of one posted debit; undefined if it equals the attested one. Pure but for `recover`. */
export function judgeDebit(
  posted: {
    readonly amount: bigint
    readonly evidence: unknown
    /** Id of the message made of our stored facts; undefined where the fill is unknown. */
    readonly messageId: Hex | undefined
    /** Debit that the deposit books. */
    readonly debitMicroUsd: bigint
  },
  { oracles, threshold, recover }: Pick<ProofContext, 'oracles' | 'threshold' | 'recover'>,
): Pick<UnprovenDebit, 'problem' | 'differenceMicroUsd'> | undefined {
  const { amount, messageId, debitMicroUsd } = posted
  const evidence = evidenceSchema.safeParse(posted.evidence)
  if (messageId === undefined || evidence.data?.messageId !== messageId)
    return { problem: 'message', differenceMicroUsd: amount }
  const digest = signingDigest({ purpose: 'message', messageId })
  const allowed: ReadonlySet<string> = new Set(oracles.map(({ signer }) => signer))
  const signers = new Set(evidence.data.signatures.map(({ signature }) => recover(digest, signature)))
  const counted = [...signers].filter((signer) => signer !== undefined && allowed.has(signer))
  if (counted.length < threshold) return { problem: 'signatures', differenceMicroUsd: amount }
  const difference = amount > debitMicroUsd ? amount - debitMicroUsd : debitMicroUsd - amount
  return difference === 0n ? undefined : { problem: 'amount', differenceMicroUsd: difference }
}
