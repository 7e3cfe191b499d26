import { exactNumber, type Hex } from '@causeway/core'
import type { Types } from 'tronweb'
import { tronHex } from './account.ts'

/**
 * Bodies of the HTTP API in the types that tronweb publishes for them: a member of another name or type does
 * not compile. Nodes leave out what is empty or zero.
 */
export type Rendered<Body> = Body extends readonly (infer Member)[]
  ? readonly Rendered<Member>[]
  : Body extends object
    ? { readonly [Name in keyof Body]?: Rendered<Body[Name]> }
    : Body

/** The EVM node's block, receipt and call frame, from which bodies are made. */
export type RpcBlock = {
  readonly number: Hex
  readonly hash: Hex
  readonly parentHash: Hex
  readonly timestamp: Hex
}
export type RpcReceipt = {
  readonly blockNumber: Hex
  readonly status: Hex
  readonly to: Hex | null
  readonly logs: readonly { readonly address: Hex; readonly topics: readonly Hex[]; readonly data: Hex }[]
}
export type RpcFrame = {
  readonly type: string
  readonly from: Hex
  readonly to?: Hex | undefined
  readonly value?: Hex | undefined
  readonly error?: string | undefined
  readonly calls?: readonly RpcFrame[] | undefined
}

/** A block. Its id begins with its number; that of the first block ends with the network's id. */
export function renderBlock(block: RpcBlock, chainId: bigint): Rendered<Types.Block> {
  const number = Number(block.number)
  const blockId = `${number.toString(16).padStart(16, '0')}${block.hash.slice(18)}`
  const blockID = number === 0 ? `${blockId.slice(0, 56)}${chainId.toString(16).padStart(8, '0')}` : blockId
  return {
    blockID,
    block_header: {
      raw_data: {
        ...(number > 0 && { number, timestamp: 1_000 * Number(block.timestamp) }),
        txTrieRoot: '0'.repeat(64),
        witness_address: tronHex(`0x${'77'.repeat(20)}`),
        parentHash: block.parentHash.slice(2),
        version: 34,
      },
      witness_signature: '00'.repeat(65),
    },
  }
}

/** The outcome of a transaction. */
export function renderInfo(shown: {
  readonly transactionId: string
  readonly receipt: RpcReceipt
  readonly block: RpcBlock
  /** Only calls of contracts have a result in their receipt. */
  readonly isContractCall: boolean
  readonly feeSun: bigint
  readonly trace: RpcFrame
}): Rendered<Types.TransactionInfo> {
  const { transactionId, receipt, block, isContractCall, feeSun, trace } = shown
  const failed = receipt.status !== '0x1'
  const internal = (trace.calls ?? []).flatMap((frame) => renderInternal(frame, transactionId))
  return {
    id: transactionId,
    ...(feeSun > 0n && { fee: exactNumber(feeSun) }),
    blockNumber: Number(receipt.blockNumber),
    blockTimeStamp: 1_000 * Number(block.timestamp),
    contractResult: [''],
    ...(isContractCall && receipt.to !== null && { contract_address: tronHex(receipt.to) }),
    receipt: {
      // Any bandwidth.
      net_usage: 345,
      ...(isContractCall && { result: failed ? 'REVERT' : 'SUCCESS' }),
    },
    ...(receipt.logs.length > 0 && { log: receipt.logs.map(renderLog) }),
    ...(failed && { result: 'FAILED', resMessage: Buffer.from('REVERT opcode executed').toString('hex') }),
    ...(internal.length > 0 && { internal_transactions: internal }),
  }
}

function renderLog({ address, topics, data }: RpcReceipt['logs'][number]) {
  return {
    address: address.slice(2).toLowerCase(),
    topics: topics.map((topic) => topic.slice(2)),
    ...(data !== '0x' && { data: data.slice(2) }),
  }
}

type Internal = Rendered<Types.TransactionInfo['internal_transactions'][number]>

/** A call inside a transaction, and those inside it. */
function renderInternal(frame: RpcFrame, transactionId: string): readonly Internal[] {
  const { from, to = `0x${'00'.repeat(20)}`, value = '0x0', error, calls = [] } = frame
  const own: Internal = {
    hash: transactionId,
    caller_address: tronHex(from),
    transferTo_address: tronHex(to),
    callValueInfo: [value === '0x0' ? {} : { callValue: exactNumber(BigInt(value)) }],
    // The text `call`.
    note: '63616c6c',
    ...(error !== undefined && { rejected: true }),
  }
  return [own, ...calls.flatMap((inner) => renderInternal(inner, transactionId))]
}

export function renderTransaction(shown: {
  readonly transactionId: string
  readonly rawHex: string
  readonly succeeded: boolean
}): Rendered<Types.GetTransactionResponse> {
  return {
    ret: [{ contractRet: shown.succeeded ? 'SUCCESS' : 'REVERT' }],
    signature: ['00'.repeat(65)],
    txID: shown.transactionId,
    raw_data_hex: shown.rawHex,
  }
}

/** Energy that is told of a call which reverted, or whose energy was not given: any number. */
const unmeasuredEnergy = 935n

/** The answer to a call that changes nothing. */
export function renderConstant(
  answer: { readonly result: Hex; readonly energy?: bigint } | { readonly revert: Hex },
): Rendered<Types.TransactionWrapper> {
  const reverted = 'revert' in answer
  const data = reverted ? answer.revert : answer.result
  return {
    result: { result: true, ...(reverted && { message: 'REVERT opcode executed' }) },
    energy_used: Number((reverted ? undefined : answer.energy) ?? unmeasuredEnergy),
    constant_result: [data.slice(2)],
  }
}

/** Nodes leave out a balance of nothing. */
export function renderAccount(address: string, balance: bigint): Rendered<Types.Account> {
  return { address, ...(balance > 0n && { balance: Number(balance) }), create_time: 1_600_000_000_000 }
}

/** A transaction that the client has to sign. */
export function renderUnsigned(unsigned: {
  readonly transactionId: string
  readonly rawHex: string
  readonly rawData: object
}) {
  const { transactionId: txID, rawHex: raw_data_hex, rawData: raw_data } = unsigned
  return { result: { result: true }, transaction: { visible: false, txID, raw_data, raw_data_hex } }
}

export function renderTaken(txid: string): Rendered<Types.BroadcastHexReturn> {
  return { result: true, txid }
}
