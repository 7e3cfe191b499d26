import type { Hex } from '@causeway/core'
import {
  BaseError,
  createPublicClient,
  ExecutionRevertedError,
  http,
  InsufficientFundsError,
  keccak256,
  type PublicClient,
} from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { PlannedTransaction } from './fillTransaction.ts'
import type { Mined, RecordFacts } from './nextMove.ts'
import type { Signed, SignedRecord } from './signedRecord.ts'

const requestTimeoutMs = 5_000
/** Mined ahead of a cancelled transaction of the same nonce, and above what nodes ask of a replacement. */
const cancellationFactor = 3n
const plainTransferGas = 21_000n
const tipWei = 1_000_000n

/** The fill wallet on one chain: asks, signs and sends, and keeps nothing. */
export type FillWallet = {
  readonly chainId: number
  readonly client: PublicClient
  readonly account: PrivateKeyAccount
  counts(): Promise<ChainCounts>
  factsOf(record: SignedRecord, counts: ChainCounts): Promise<RecordFacts>
  /** @returns why the transaction would fail, or the gas it may use */
  simulate(transaction: PlannedTransaction): Promise<Simulation>
  sign(transaction: PlannedTransaction & { readonly nonce: number; readonly gas: bigint }): Promise<Signed>
  /** Takes a nonce for nothing. */
  signCancellation(nonce: number): Promise<Signed>
  /** Sends bytes again and again at no harm: a node that has them says so, and that is enough. */
  broadcast(signed: Signed): Promise<void>
}

export type ChainCounts = {
  readonly latestCount: number
  readonly finalCount: number
  readonly finalBlock: bigint
  readonly chainTime: number
}

export type Simulation =
  | { readonly succeeds: true; readonly gas: bigint }
  | { readonly succeeds: false; readonly reason: string }

export function connectFillWallet(
  { chainId, rpcUrl }: { readonly chainId: number; readonly rpcUrl: string },
  account: PrivateKeyAccount,
): FillWallet {
  const transport = http(rpcUrl, { timeout: requestTimeoutMs, retryCount: 0 })
  const client = createPublicClient({ transport, cacheTime: 0 })
  const { address } = account
  const sign = async (
    transaction: PlannedTransaction & { readonly nonce: number; readonly gas: bigint },
    feeFactor = 1n,
  ): Promise<Signed> => {
    const { to, data, valueWei: value, nonce, gas } = transaction
    const { baseFeePerGas } = await client.getBlock({ blockTag: 'latest' })
    const raw = await account.signTransaction({
      ...{ type: 'eip1559', chainId, nonce, to, data, value, gas },
      maxFeePerGas: ((baseFeePerGas ?? 0n) * 10n + tipWei) * feeFactor,
      maxPriorityFeePerGas: tipWei * feeFactor,
    })
    return { raw, hash: keccak256(raw) }
  }
  return {
    chainId,
    client,
    account,
    counts: () => readCounts(client, address),
    async factsOf({ transaction, cancellation }, { finalBlock, ...counts }) {
      const mined = await readMined(client, transaction.hash, finalBlock)
      const cancelled =
        mined === undefined && cancellation !== undefined
          ? await readMined(client, cancellation.hash, finalBlock)
          : undefined
      return { ...counts, mined, cancelled }
    },
    simulate: (transaction) => simulate(client, address, transaction),
    sign: (transaction) => sign(transaction),
    signCancellation: (nonce) =>
      sign({ to: address, data: '0x', valueWei: 0n, nonce, gas: plainTransferGas }, cancellationFactor),
    async broadcast({ raw }) {
      try {
        await client.sendRawTransaction({ serializedTransaction: raw })
      } catch (error) {
        if (!(error instanceof BaseError) || !/already (imported|known)|nonce too low/i.test(error.message))
          throw error
      }
    },
  }
}

/** Counts first and receipts afterwards: a nonce that is used by then has its receipt by then. */
async function readCounts(client: PublicClient, address: Hex): Promise<ChainCounts> {
  const [finalBlock, latestBlock] = await Promise.all([
    client.getBlock({ blockTag: 'finalized' }),
    client.getBlock({ blockTag: 'latest' }),
  ])
  const [finalCount, latestCount] = await Promise.all([
    client.getTransactionCount({ address, blockNumber: finalBlock.number }),
    client.getTransactionCount({ address, blockTag: 'latest' }),
  ])
  return { latestCount, finalCount, finalBlock: finalBlock.number, chainTime: Number(latestBlock.timestamp) }
}

async function readMined(client: PublicClient, hash: Hex, finalBlock: bigint): Promise<Mined | undefined> {
  const receipt = await client.request({ method: 'eth_getTransactionReceipt', params: [hash] })
  if (receipt === null) return undefined
  return { succeeded: receipt.status === '0x1', isFinal: BigInt(receipt.blockNumber) <= finalBlock }
}

/** What is estimated in one block must also do in the next, where a pool may write an observation. */
const withMargin = (gas: bigint) => (gas * 13n) / 10n + 50_000n

async function simulate(
  client: PublicClient,
  account: Hex,
  { to, data, valueWei: value }: PlannedTransaction,
): Promise<Simulation> {
  try {
    const gas = await client.estimateGas({ account, to, data, value, blockTag: 'latest' })
    return { succeeds: true, gas: withMargin(gas) }
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
    const revert = error.walk(
      (cause) => cause instanceof ExecutionRevertedError || cause instanceof InsufficientFundsError,
    )
    if (revert === null) throw error
    return { succeeds: false, reason: 'the transaction would revert' }
  }
}
