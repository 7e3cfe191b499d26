import {
  type FinalBlocks,
  type Hex,
  isHex32,
  type Signer,
  type UpstreamUnavailableError,
} from '@causeway/core'
import { type ChainClient, parseQuantity, type RpcAnswer, toQuantity } from '@causeway/rpc'
import {
  encodeFunctionData,
  keccak256,
  parseAbi,
  parseSignature,
  serializeTransaction,
  zeroAddress,
} from 'viem'
import type { Fees } from '../rules/paying/fees.ts'
import type { Authorization, Mined, PlannedTransaction, SignedTransaction } from './contractPayingChain.ts'
import { firstMined } from './minedTransactions.ts'
import { type ChainCounts, readCounts } from './nonceCounts.ts'
import { Submission } from './submission.ts'
import { type GasLimits, type Trial, tryTransaction } from './tryTransaction.ts'

const readTimeoutMs = 5_000
const plainTransferGas = 21_000n
/** No chain asks for more to send nothing; whoever says so is not followed. */
const cancellationGasMax = 2_000_000n
const erc20Abi = parseAbi([
  'function balanceOf(address account) view returns (uint256)',
  'function allowance(address owner, address spender) view returns (uint256)',
])

/** The fill wallet on one chain: asks, signs and sends, and keeps nothing. */
export type FillWallet = {
  readonly chainId: number
  readonly address: Hex
  counts(): Promise<ChainCounts>
  /** Which transaction of one nonce is mined, by agreement: one that does its work, or a cancellation. */
  minedOf(
    record: {
      readonly transactions: readonly SignedTransaction[]
      readonly cancellations: readonly SignedTransaction[]
    },
    counts: Pick<ChainCounts, 'finalBlock'>,
  ): Promise<{ readonly mined: Mined | undefined; readonly cancelled: Mined | undefined }>
  /** Has it run as it would be signed at this bid, within limits of gas. @throws UpstreamUnavailableError */
  tryOut(transaction: PlannedTransaction, bid: Fees, limits: GasLimits): Promise<Trial>
  sign(transaction: PlacedTransaction, fees: Fees): Promise<SignedTransaction>
  /** Takes a nonce for nothing. */
  signCancellation(nonce: number, fees: Fees): Promise<SignedTransaction>
  /**
   * Sends bytes again and again at no harm: a node that has them says so, and that is enough.
   * @throws NeverTakenError where enough nodes refuse them for good, NodeError where all refuse them now,
   * UpstreamUnavailableError
   */
  broadcast(signed: Pick<SignedTransaction, 'raw'>): Promise<void>
  /** As of the newest block that one endpoint knows: what is short is seen by the simulation at the latest. */
  balanceOf(currency: string): Promise<bigint>
  allowanceFor(token: string, spender: Hex): Promise<bigint>
  /** Failure of the submit endpoint in its last use; undefined if it succeeded, or if there is none. */
  submitFailure(): UpstreamUnavailableError | undefined
}

type PlacedTransaction = PlannedTransaction & { readonly nonce: number; readonly gas: bigint }

export type WalletChain = {
  readonly chainId: number
  readonly client: ChainClient
  /** The only receiver of transactions; absent: `client`. All is read from `client`. @source rule P-55 */
  readonly submit?: ChainClient | undefined
  readonly finalBlocks: FinalBlocks
  readonly signer: Signer
  readonly nowMs: () => number
}

export function connectFillWallet(chain: WalletChain): FillWallet {
  const { chainId, client, submit, signer } = chain
  const { address } = signer
  const submission = new Submission(client, submit)
  return {
    ...{ chainId, address },
    sign: (transaction, fees) => sign(chain, transaction, fees),
    counts: () => readCounts(chain),
    async minedOf({ transactions, cancellations }, { finalBlock }) {
      const mined = await firstMined(client, transactions, finalBlock)
      const cancelled = mined === undefined ? await firstMined(client, cancellations, finalBlock) : undefined
      return { mined, cancelled }
    },
    async tryOut({ authorizationList, ...transaction }, bid, limits) {
      const { maxFeePerGasWei, maxPriorityFeePerGasWei } = bid
      // No nonce is taken while the submit endpoint is silent. An error is an answer: some can only send.
      if (submit !== undefined) await submission.ask({ method: 'eth_chainId', params: [] })
      const tried = {
        ...{ ...transaction, from: address, maxFeePerGasWei, maxPriorityFeePerGasWei },
        authorizationList: authorizationList?.map(toWire),
      }
      return tryTransaction(client, tried, limits)
    },
    async signCancellation(nonce, fees) {
      const call = { from: address, to: address, data: '0x', value: '0x0' }
      const estimate = { method: 'eth_estimateGas', params: [call, 'latest'] }
      // A cancellation must not wait for a node that does not answer.
      const [answer] = await client.batch([estimate], { timeoutMs: readTimeoutMs }).catch(() => [])
      return sign(chain, { to: address, data: '0x', valueWei: 0n, nonce, gas: cancellationGas(answer) }, fees)
    },
    broadcast: (signed) => submission.broadcast(signed),
    submitFailure: () => submission.failure,
    balanceOf: async (currency) =>
      currency === zeroAddress
        ? parseQuantity(
            await client.request({ method: 'eth_getBalance', params: [address, 'latest'] }),
            'eth_getBalance',
          )
        : readToken(
            client,
            currency,
            encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [address] }),
          ),
    allowanceFor: (token, spender) =>
      readToken(
        client,
        token,
        encodeFunctionData({ abi: erc20Abi, functionName: 'allowance', args: [address, spender] }),
      ),
  }
}

async function sign(
  { chainId, signer, nowMs }: WalletChain,
  transaction: PlacedTransaction,
  fees: Fees,
): Promise<SignedTransaction> {
  const { to, data, valueWei: value, nonce, gas, authorizationList } = transaction
  const common = {
    ...{ chainId, nonce, to, data, value, gas },
    maxFeePerGas: fees.maxFeePerGasWei,
    maxPriorityFeePerGas: fees.maxPriorityFeePerGasWei,
  }
  const unsigned =
    authorizationList === undefined
      ? { ...common, type: 'eip1559' as const }
      : { ...common, type: 'eip7702' as const, authorizationList: [...authorizationList] }
  const signature = await signer.sign({ purpose: 'transaction', unsigned: serializeTransaction(unsigned) })
  const raw = serializeTransaction(unsigned, parseSignature(signature))
  return { raw, hash: keccak256(raw), ...fees, signedAtMs: nowMs() }
}

async function readToken(client: ChainClient, token: string, data: Hex): Promise<bigint> {
  const call = { method: 'eth_call', params: [{ to: token, data }, 'latest'] }
  return parseQuantity(shortened(await client.request(call, { timeoutMs: readTimeoutMs })), 'eth_call')
}

/** Numbers as nodes take them. */
function toWire({ chainId, nonce, yParity, ...rest }: Authorization): object {
  const [chain, count, parity] = [chainId, nonce, yParity].map((value) => toQuantity(BigInt(value)))
  return { ...rest, chainId: chain, nonce: count, yParity: parity }
}

/** A word as a quantity, which has no leading zeros. */
function shortened(word: unknown): unknown {
  return isHex32(word) ? toQuantity(BigInt(word)) : word
}

/** Gas limit with a margin: the next block may need more than the estimate, if a pool writes an observation in it. */
const withMargin = (gas: bigint) => (gas * 13n) / 10n + 50_000n

/**
 * Gas of a transaction that moves nothing: what a transfer always takes, and more where the chain takes data as gas,
 * because a limit below that is refused and the nonce would stay taken.
 * @param answer to `eth_estimateGas`; none is as good as the usual amount
 */
export function cancellationGas(answer: RpcAnswer | undefined): bigint {
  if (answer?.ok !== true || typeof answer.result !== 'string') return plainTransferGas
  if (!/^0x[0-9a-f]{1,16}$/i.test(answer.result)) return plainTransferGas
  const estimate = BigInt(answer.result)
  if (estimate <= plainTransferGas || estimate > cancellationGasMax) return plainTransferGas
  return withMargin(estimate)
}
