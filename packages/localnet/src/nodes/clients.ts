import type { Hex } from '@causeway/core'
import {
  type Account,
  type Chain,
  type PublicClient,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
  type Transport,
  type WalletClient,
} from 'viem'

/** Both sides of one chain: reads, and writes by one funded account. */
export type LocalClients = {
  readonly publicClient: PublicClient
  readonly walletClient: WalletClient<Transport, Chain, Account>
}

const minedTimeoutMs = 60_000
const receiptPollMs = 10

/**
 * Waits for a transaction. Asks for the receipt until it is there: waiting for the next block, as viem's
 * own wait does, never ends on a node that mines on demand and has just mined this one.
 * @throws Error when it reverted, or is not mined in a minute
 */
export async function waitUntilMined(
  clients: LocalClients,
  hash: Hex,
  subject: string,
): Promise<TransactionReceipt> {
  const deadline = Date.now() + minedTimeoutMs
  while (Date.now() < deadline) {
    const receipt = await clients.publicClient.getTransactionReceipt({ hash }).catch(ignoreNotFound)
    if (receipt?.status === 'reverted') throw new Error(`${subject} reverted`)
    if (receipt !== undefined) return receipt
    await new Promise((resolve) => setTimeout(resolve, receiptPollMs))
  }
  throw new Error(`${subject} was not mined in ${minedTimeoutMs} ms`)
}

function ignoreNotFound(error: unknown): undefined {
  if (error instanceof TransactionReceiptNotFoundError) return undefined
  throw error
}

/**
 * Gas for calls of a pool. An estimate can be too low: the first call of a block also writes the pool's
 * price history, and whether it does depends on the second it is mined in.
 */
export const poolCallGas = 16_000_000n
