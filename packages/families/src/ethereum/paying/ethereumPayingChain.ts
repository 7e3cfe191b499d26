import { type Hex, hexToBytes, isHex32, keccak256Hex, viemLibrary } from '@causeway/core'
import { ethereumCodec } from '@causeway/core/encodings'
import { type ChainClient, parseBytes, parseQuantity, type RpcAnswer, toQuantity } from '@causeway/rpc'
import { allowanceCall, balanceOfCall } from '../contracts/erc20Calls.ts'
import type { ContractCall } from '../contracts/multicall.ts'
import type { GasBid } from '../rules/paying/gasBids.ts'
import type {
  Authorization,
  ContractPayingChain,
  ContractPayingFamily,
  ContractPayingOptions,
  SignedTransaction,
  UnsignedTransaction,
} from './contractPayingChain.ts'
import { createFillContracts } from './fillContracts.ts'
import { readFillMark } from './fillMarks.ts'
import { firstMined } from './minedTransactions.ts'
import { readCounts } from './nonceCounts.ts'
import { askSubmit, Submission } from './submission.ts'
import { tryTransaction, withMargin } from './tryTransaction.ts'

const readTimeoutMs = 5_000
const codeTimeoutMs = 2_000
/** Gas of a plain transfer, and the least of any transaction. */
const plainTransferGas = 21_000n
/** An estimate above it is not believed: no chain takes so much gas for a transaction that does nothing. */
const cancellationGasMax = 2_000_000n

/** Payments of one wallet through a fill contract, each with a nonce. */
export const ethereumPaying: ContractPayingFamily = { open: openEthereumPaying, askSubmit }

function openEthereumPaying(options: ContractPayingOptions): ContractPayingChain {
  const { chainId, client, submit, finalBlocks, signer, fillContract, recordsPayments } = options
  const { address } = signer
  const submission = new Submission(client, submit)
  const listed = options.listedFillContracts
  const fillContracts = createFillContracts({ client, own: fillContract, listed, recordsPayments })
  const readFinalOf = (filler: Hex, id: Hex) =>
    readFillMark({ client, finalBlocks, fillContracts }, filler, id)
  return {
    chainId,
    address,
    fillContracts,
    readFinalOf,
    readFinal: (id) => readFinalOf(address, id),
    hasCode: (account) => readHasCode(client, account),
    counts: () => readCounts(options),
    async minedOf({ transactions, cancellations }, { finalBlock }) {
      const mined = await firstMined(client, transactions, finalBlock)
      const cancelled = mined === undefined ? await firstMined(client, cancellations, finalBlock) : undefined
      return { mined, cancelled }
    },
    async tryOut(transaction, bid, limits) {
      // Throws if the submit endpoint is silent, so that no nonce is taken for a transaction that cannot be sent. An
      // error for `eth_chainId` will do: some endpoints take transactions and refuse all other calls.
      if (submit !== undefined) await submission.ask({ method: 'eth_chainId', params: [] })
      const { maxFeePerGasWei, maxPriorityFeePerGasWei } = bid
      const authorizationList = transaction.authorizationList?.map(toWire)
      const fees = { maxFeePerGasWei, maxPriorityFeePerGasWei }
      return tryTransaction(client, { ...transaction, ...fees, from: address, authorizationList }, limits)
    },
    sign: (transaction, bid) => sign(options, transaction, bid),
    async signCancellation(nonce, bid) {
      const gas = await readCancellationGas(client, address)
      return { signed: await sign(options, { to: address, data: '0x', valueWei: 0n, nonce, gas }, bid), gas }
    },
    broadcast: (signed) => submission.broadcast(signed),
    balanceOf: (currency) =>
      currency === ethereumCodec.nativeCurrency
        ? readNative(client, address)
        : readToken(client, balanceOfCall(asHex(currency), address)),
    allowanceFor: (token, spender) => readToken(client, allowanceCall(asHex(token), address, spender)),
    ...(submit !== undefined && { submitFailure: () => submission.failure }),
  }
}

const asHex = (currency: string): Hex =>
  // CAST: a canonical address of this family is lower-case hex.
  currency as Hex

async function sign(
  { chainId, signer, nowMs }: Pick<ContractPayingOptions, 'chainId' | 'signer' | 'nowMs'>,
  transaction: UnsignedTransaction,
  bid: GasBid,
): Promise<SignedTransaction> {
  const { parseSignature, serializeTransaction } = viemLibrary()
  const { to, data, valueWei: value, nonce, gas, authorizationList } = transaction
  const common = {
    chainId,
    nonce,
    to,
    data,
    value,
    gas,
    maxFeePerGas: bid.maxFeePerGasWei,
    maxPriorityFeePerGas: bid.maxPriorityFeePerGasWei,
  }
  const unsigned =
    authorizationList === undefined
      ? { ...common, type: 'eip1559' as const }
      : { ...common, type: 'eip7702' as const, authorizationList: [...authorizationList] }
  const signature = await signer.sign({ purpose: 'transaction', unsigned: serializeTransaction(unsigned) })
  const raw = serializeTransaction(unsigned, parseSignature(signature))
  return { raw, hash: keccak256Hex(hexToBytes(raw)), ...bid, signedAtMs: nowMs() }
}

async function readNative(client: ChainClient, address: Hex): Promise<bigint> {
  const method = 'eth_getBalance'
  return parseQuantity(await client.request({ method, params: [address, 'latest'] }), method)
}

async function readToken(client: ChainClient, { target: to, callData: data }: ContractCall): Promise<bigint> {
  const call = { method: 'eth_call', params: [{ to, data }, 'latest'] }
  return parseQuantity(shortened(await client.request(call, { timeoutMs: readTimeoutMs })), 'eth_call')
}

/** True if an account has code now, as enough endpoints say; undefined if they do not. Never rejects. */
async function readHasCode(
  client: Pick<ChainClient, 'agree'>,
  account: string,
): Promise<boolean | undefined> {
  const method = 'eth_getCode'
  const codeIn = ([codeAnswer]: readonly RpcAnswer[]) =>
    codeAnswer?.ok === true ? parseBytes(codeAnswer.result, method).length > 2 : undefined
  try {
    const calls = [{ method, params: [account, 'latest'] }]
    const { answers } = await client.agree(calls, { timeoutMs: codeTimeoutMs, project: codeIn })
    return codeIn(answers)
  } catch {
    return undefined
  }
}

/** An authorization as nodes take it, with numbers as hex quantities. */
function toWire({ chainId, nonce, yParity, ...rest }: Authorization): object {
  const [chain, count, parity] = [chainId, nonce, yParity].map((value) => toQuantity(BigInt(value)))
  return { ...rest, chainId: chain, nonce: count, yParity: parity }
}

/** A word as a quantity, which has no leading zeros. */
function shortened(word: unknown): unknown {
  return isHex32(word) ? toQuantity(BigInt(word)) : word
}

/** Gas of a cancellation, by one endpoint's estimate, or that of a transfer: a silent node must not hold it up. */
async function readCancellationGas(client: ChainClient, address: Hex): Promise<bigint> {
  const call = { from: address, to: address, data: '0x', value: '0x0' }
  const estimate = { method: 'eth_estimateGas', params: [call, 'latest'] }
  const [answer] = await client.batch([estimate], { timeoutMs: readTimeoutMs }).catch(() => [])
  return cancellationGas(answer)
}

/**
 * Gas of a transaction that moves nothing: what a transfer always takes, and more where the chain takes data as gas,
 * because a limit below that is refused and the nonce would stay taken.
 * @param answer to `eth_estimateGas`; without a credible one the gas of a transfer is taken
 */
export function cancellationGas(answer: RpcAnswer | undefined): bigint {
  if (answer?.ok !== true || typeof answer.result !== 'string') return plainTransferGas
  if (!/^0x[0-9a-f]{1,16}$/i.test(answer.result)) return plainTransferGas
  const estimate = BigInt(answer.result)
  if (estimate <= plainTransferGas || estimate > cancellationGasMax) return plainTransferGas
  return withMargin(estimate)
}
