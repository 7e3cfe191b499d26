import { z } from 'zod'
import type { SolanaNode } from './solanaNode.ts'
import { type StoredTransaction, toBlockEntry } from './storedTransaction.ts'

/** A node's refusal. @source Agave, rpc-client-api custom_error.rs */
export class RpcRefusal extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** Options of a request that say how transactions are shown. */
export const transactionViewSchema = z.object({
  /** The newest version that it reads; absent: none that has a number. */
  maxSupportedTransactionVersion: z.number().optional(),
  encoding: z.enum(['base64', 'json']).default('json'),
})

/** Options of a request that say how a block is shown. */
export const blockViewSchema = transactionViewSchema.extend({
  transactionDetails: z.enum(['full', 'signatures', 'none']).default('full'),
})

type TransactionView = z.infer<typeof transactionViewSchema>

/** The version of a transaction that the options do not allow to show; else undefined. @source Agave, transaction-status lib.rs */
export function unsupportedVersion(
  { version }: Pick<StoredTransaction, 'version'>,
  { maxSupportedTransactionVersion = -1 }: TransactionView,
): number | undefined {
  return version === 'legacy' || version <= maxSupportedTransactionVersion ? undefined : version
}

/** Refuses a request whose answer would hold an unsupported version. @throws RpcRefusal */
export function refuseUnsupported(version: number | undefined): void {
  if (version === undefined) return
  throw new RpcRefusal(
    -32_015,
    `Transaction version (${version}) is not supported by the requesting client. Please try the request again ` +
      `with the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
  )
}

/**
 * The block of a slot as a client sees it; null for a skipped slot. One transaction of an unsupported version hides the
 * whole block, unless no transactions are shown. @source Solana JSON-RPC documentation, getBlock
 */
export function showBlock(
  node: SolanaNode,
  slot: bigint,
  { transactionDetails, ...shown }: z.infer<typeof blockViewSchema>,
): { readonly block: object | null } | { readonly unsupported: number } {
  const block = node.block(slot)
  if (block === undefined) return { block: null }
  const head = {
    blockhash: block.hash,
    previousBlockhash: node.block(slot - 1n)?.hash ?? block.hash,
    parentSlot: Number(slot - 1n),
    blockHeight: Number(slot),
    blockTime: block.timeSeconds === null ? null : Number(block.timeSeconds),
  }
  if (transactionDetails === 'none') return { block: head }
  const listed = node.transactionsIn(slot)
  if (transactionDetails === 'signatures')
    return { block: { ...head, signatures: listed.map(([signature]) => signature) } }
  const stored = listed.map(([, one]) => one)
  const unsupported = stored.map((one) => unsupportedVersion(one, shown)).find((one) => one !== undefined)
  if (unsupported !== undefined) return { unsupported }
  return { block: { ...head, transactions: stored.map((one) => toBlockEntry(one, shown.encoding)) } }
}
