// A stand-in, not a Tron node: the HTTP API of one in front of an EVM node. Contracts, logs, reverts, inner
// calls and reorganizations are real; energy, bandwidth, fees, producers and their votes are not there, and
// a block counts as solidified a set number of blocks below the head.
import type { Hex } from '@causeway/core'
import { type FaultyService, startFaultyService } from '../http/faultyService.ts'
import { tronBodies } from './bodies.ts'
import { readTrace } from './readTrace.ts'
import type { RpcBlock, RpcFrame, RpcReceipt } from './renderBodies.ts'
import type { EvmBehind, TronLedger } from './tronLedger.ts'

export type FacadeSettings = {
  /** Blocks below the head from which one counts as solidified. Default 2. */
  readonly solidAfter?: number
  /** The chain does not move any more: each question is put to it once. */
  readonly isStill?: boolean
}

/** Requests are counted by path. @param settings.port default: a free one */
export function startTronFacade(
  bed: Pick<EvmBehind, 'node'>,
  ledger: Pick<TronLedger, 'known'>,
  settings: FacadeSettings & { readonly chainId: bigint; readonly port?: number },
): Promise<FaultyService> {
  const { solidAfter = 2, isStill = false, chainId, port } = settings
  const source: Source = { bed, ledger, solidAfter, chainId }
  const told = new Map<string, Promise<unknown>>()
  return startFaultyService({
    keyOf: ({ path }) => path,
    answer({ path, text }) {
      const key = `${path} ${text}`
      const body = told.get(key) ?? bodyOf(source, path, Object(JSON.parse(text)))
      if (isStill) told.set(key, body)
      return body
    },
    port,
  })
}

const missing = tronBodies.missing.body

type Source = {
  readonly bed: Pick<EvmBehind, 'node'>
  readonly ledger: Pick<TronLedger, 'known'>
  readonly solidAfter: number
  readonly chainId: bigint
}
type Asked = Readonly<Record<string, unknown>>

async function bodyOf(source: Source, path: string, asked: Asked): Promise<unknown> {
  const [, api, call] = path.split('/')
  const head = Number(await source.bed.node('eth_blockNumber', []))
  const newest = api === 'walletsolidity' ? Math.max(head - source.solidAfter, 0) : head
  switch (call) {
    case 'getblock': {
      const number = asked['id_or_num'] === undefined ? newest : Number(asked['id_or_num'])
      return number > newest ? missing : tronBodies.block.body(await blockAt(source, number), source.chainId)
    }
    case 'gettransactioninfobyid':
      return infoOf(source, String(asked['value']), newest)
    case 'gettransactioninfobyblocknum':
      return infosOf(source, Number(asked['num']), newest)
    case 'gettransactionbyid':
      return transactionOf(source, String(asked['value']), newest)
    case 'triggerconstantcontract':
      return constantCall(source, asked, newest)
    case 'getcontract': {
      const code = String(await source.bed.node('eth_getCode', [evmAddress(asked['value']), 'latest']))
      return code === '0x' ? missing : tronBodies.contract.body(asked['value'], code.slice(2))
    }
    default:
      return tronBodies.refusals.body.path(path)
  }
}

async function blockAt({ bed }: Source, number: number): Promise<RpcBlock> {
  return Object(await bed.node('eth_getBlockByNumber', [`0x${number.toString(16)}`, false]))
}

async function receiptOf({ bed }: Source, evmHash: Hex): Promise<RpcReceipt | undefined> {
  const receipt = await bed.node('eth_getTransactionReceipt', [evmHash])
  return receipt === null ? undefined : Object(receipt)
}

/** A transaction that did not come through the facade has the id of the EVM. */
function evmHashOf({ ledger }: Source, transactionId: string): Hex {
  return ledger.known.get(transactionId)?.evmHash ?? `0x${transactionId}`
}

async function infoOf(source: Source, transactionId: string, newest: number): Promise<unknown> {
  const evmHash = evmHashOf(source, transactionId)
  const receipt = await receiptOf(source, evmHash)
  if (receipt === undefined || Number(receipt.blockNumber) > newest) return missing
  const [block, trace] = await Promise.all([
    blockAt(source, Number(receipt.blockNumber)),
    traceOf(source, transactionId, evmHash),
  ])
  const isContractCall = source.ledger.known.get(transactionId)?.isContractCall === true
  return tronBodies.info.body({ transactionId, receipt, block, isContractCall, trace })
}

async function traceOf({ bed, ledger }: Source, transactionId: string, evmHash: Hex): Promise<RpcFrame> {
  try {
    return await readTrace(bed, evmHash)
  } catch (error) {
    const kept = ledger.known.get(transactionId)?.trace
    if (kept === undefined) throw error
    return kept
  }
}

async function infosOf(source: Source, number: number, newest: number): Promise<unknown> {
  if (number <= 0 || number > newest) return missing
  const { transactions } = Object(await blockAt(source, number))
  const ids = new Map([...source.ledger.known].map(([id, { evmHash }]) => [evmHash, id]))
  const hashes: readonly Hex[] = transactions
  return Promise.all(hashes.map((hash) => infoOf(source, ids.get(hash) ?? hash.slice(2), newest)))
}

async function transactionOf(source: Source, transactionId: string, newest: number): Promise<unknown> {
  const known = source.ledger.known.get(transactionId)
  const receipt = known && (await receiptOf(source, known.evmHash))
  if (known === undefined || receipt === undefined || Number(receipt.blockNumber) > newest) return missing
  const { rawHex } = known
  return tronBodies.transaction.body({ transactionId, rawHex, succeeded: receipt.status === '0x1' })
}

const callRequestsSelector = 'd52bfcc8'

async function constantCall(source: Source, asked: Asked, newest: number): Promise<unknown> {
  if (asked['function_selector'] !== 'callRequests(bytes32)') {
    return tronBodies.refusals.body.call
  }
  const data = `0x${callRequestsSelector}${asked['parameter']}`
  const call = [{ to: evmAddress(asked['contract_address']), data }, `0x${newest.toString(16)}`]
  const result = String(await source.bed.node('eth_call', call))
  return tronBodies.constantCall.body({ result: `0x${result.slice(2)}` })
}

function evmAddress(value: unknown): Hex {
  return `0x${String(value).slice(2)}`
}
