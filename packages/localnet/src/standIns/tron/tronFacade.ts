// A stand-in, not a Tron node: the HTTP API of one in front of an EVM node. Contracts, logs, reverts, inner
// calls, reorganizations, ids, signatures and expiry are real; energy is the gas of the node, nobody has free or
// staked resources, producers and their votes are not there, and a block counts as solidified a set number of
// blocks below the head.
import { type Hex, keccak256Hex } from '@causeway/core'
import { type FaultyService, startFaultyService } from '../http/faultyService.ts'
import { tronBodies } from './bodies.ts'
import type { Broadcasts } from './broadcasts.ts'
import type { CallBody, TronKnowledge, TronPrices } from './knowledge.ts'
import { intrinsicGas, readTrace } from './readTrace.ts'
import type { RpcBlock, RpcFrame, RpcReceipt } from './renderBodies.ts'
import type { EvmBackend } from './tronLedger.ts'

export type FacadeSettings = {
  /** A block counts as solidified when it is so many below the head. Default 2. */
  readonly solidAfter?: number
  /** True: each answer is kept, as if the chain had stopped. `accounts`: only answers about accounts are. */
  readonly isStill?: boolean | 'accounts'
  /** Default: 100 sun for energy, 1,000 for a byte. */
  readonly prices?: TronPrices
  /** Staked energy of accounts, by their EVM address; transactions use up none of it. */
  readonly stakedEnergy?: ReadonlyMap<string, number>
}

/** Starts the API of a Tron node in front of an EVM node. Requests are counted by path. @param settings.port default: a free one */
export function startTronFacade(
  evm: Pick<EvmBackend, 'node'>,
  ledger: TronKnowledge,
  settings: FacadeSettings & { readonly chainId: bigint; readonly port?: number },
): Promise<FaultyService> {
  const { solidAfter = 2, isStill = false, prices = usualPrices(), chainId, port } = settings
  const { stakedEnergy = new Map() } = settings
  let loadedBroadcasts: Promise<Broadcasts> | undefined
  // Loaded with the first broadcast, because the libraries that sign and encode take long to load.
  const broadcasts = () => {
    loadedBroadcasts ??= import('./broadcasts.ts').then(({ createBroadcasts }) =>
      createBroadcasts(evm, ledger, { chainId, prices }),
    )
    return loadedBroadcasts
  }
  const source: Source = { evm, ledger, solidAfter, chainId, prices, stakedEnergy, broadcasts }
  const keptAnswers = new Map<string, Promise<unknown>>()
  return startFaultyService({
    keyOf: ({ path }) => path,
    answer({ path, text }) {
      const key = `${path} ${text}`
      const body = keptAnswers.get(key) ?? bodyOf(source, path, Object(JSON.parse(text)))
      if (isStill === true || (isStill === 'accounts' && accountPaths.has(path))) keptAnswers.set(key, body)
      return body
    },
    port,
  })
}

/** Paths of questions about accounts and contracts. */
const accountPaths: ReadonlySet<string> = new Set(
  ['triggerconstantcontract', 'getcontract', 'getcontractinfo', 'getaccount', 'getaccountresource'].map(
    (call) => `/wallet/${call}`,
  ),
)

const usualPrices = (): TronPrices => ({ sunPerEnergy: 100, sunPerByte: 1_000 })

const missing = tronBodies.missing.body

/** Source of the facade's answers. */
type Source = {
  readonly evm: Pick<EvmBackend, 'node'>
  readonly ledger: TronKnowledge
  readonly solidAfter: number
  readonly chainId: bigint
  readonly prices: TronPrices
  readonly stakedEnergy: ReadonlyMap<string, number>
  readonly broadcasts: () => Promise<Broadcasts>
}
type RequestBody = Readonly<Record<string, unknown>>

async function bodyOf(source: Source, path: string, request: RequestBody): Promise<unknown> {
  const [, api, call] = path.split('/')
  // `walletsolidity` shows solidified blocks only, `wallet` all.
  const head = Number(await source.evm.node('eth_blockNumber', []))
  const newest = api === 'walletsolidity' ? Math.max(head - source.solidAfter, 0) : head
  switch (call) {
    case 'getblock': {
      const number = request['id_or_num'] === undefined ? newest : Number(request['id_or_num'])
      return number > newest ? missing : tronBodies.block.body(await blockAt(source, number), source.chainId)
    }
    case 'getnowblock':
      return tronBodies.block.body(await blockAt(source, newest), source.chainId)
    case 'gettransactioninfobyid':
      return infoOf(source, String(request['value']), newest)
    case 'gettransactioninfobyblocknum':
      return infosOf(source, Number(request['num']), newest)
    case 'gettransactionbyid':
      return transactionOf(source, String(request['value']), newest)
    case 'triggerconstantcontract':
      return constantCall(source, request, newest)
    case 'getcontract': {
      const code = String(await source.evm.node('eth_getCode', [evmAddress(request['value']), 'latest']))
      return code === '0x' ? missing : tronBodies.contract.body(request['value'], code.slice(2))
    }
    case 'getcontractinfo': {
      const code = String(await source.evm.node('eth_getCode', [evmAddress(request['value']), 'latest']))
      return code === '0x' ? missing : tronBodies.contractInfo.body(request['value'], code.slice(2))
    }
    case 'getaccount':
      return accountOf(source, String(request['address']))
    case 'getaccountresource':
      return tronBodies.resources.body(source.stakedEnergy.get(evmAddress(request['address'])) ?? 0)
    case 'getchainparameters':
      return tronBodies.parameters.body(source.prices)
    case 'triggersmartcontract':
      return (await source.broadcasts()).trigger(callBodyOf(request))
    case 'broadcasttransaction':
      return (await source.broadcasts()).takeParts(
        String(request['raw_data_hex']),
        String(Object(request['signature'])[0]),
      )
    case 'broadcasthex':
      return (await source.broadcasts()).take(Buffer.from(String(request['transaction']), 'hex'))
    default:
      return tronBodies.refusals.body.path(path)
  }
}

async function blockAt({ evm }: Source, number: number): Promise<RpcBlock> {
  return Object(await evm.node('eth_getBlockByNumber', [`0x${number.toString(16)}`, false]))
}

async function receiptOf({ evm }: Source, evmHash: Hex): Promise<RpcReceipt | undefined> {
  const receipt = await evm.node('eth_getTransactionReceipt', [evmHash])
  return receipt === null ? undefined : Object(receipt)
}

/** A transaction that did not come through the facade has its EVM hash as its id. */
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
  const transaction = source.ledger.known.get(transactionId)
  const isContractCall = transaction?.isContractCall === true
  const { feeSun = 0n } = transaction ?? {}
  return tronBodies.info.body({ transactionId, receipt, block, isContractCall, feeSun, trace })
}

async function traceOf({ evm, ledger }: Source, transactionId: string, evmHash: Hex): Promise<RpcFrame> {
  try {
    return await readTrace(evm, evmHash)
  } catch {
    // The node has forgotten the state. Without a kept trace no inner calls are shown, as by nodes that keep none.
    return ledger.known.get(transactionId)?.trace ?? { type: 'CALL', from: `0x${'00'.repeat(20)}` }
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
  const transaction = source.ledger.known.get(transactionId)
  const receipt = transaction && (await receiptOf(source, transaction.evmHash))
  if (transaction === undefined || receipt === undefined || Number(receipt.blockNumber) > newest)
    return missing
  const { rawHex } = transaction
  return tronBodies.transaction.body({ transactionId, rawHex, succeeded: receipt.status === '0x1' })
}

async function constantCall({ evm }: Source, request: RequestBody, newest: number): Promise<unknown> {
  const { owner: from, contract: to, data, value } = callBodyOf(request)
  if (String(await evm.node('eth_getCode', [to, 'latest'])) === '0x')
    return tronBodies.refusals.body.call('Smart contract is not exist.')
  const call = { from, to, data, value: `0x${value.toString(16)}` }
  try {
    const block = `0x${newest.toString(16)}`
    const [result, gas] = await Promise.all([
      evm.node('eth_call', [call, block]),
      evm.node('eth_estimateGas', [call, block]),
    ])
    const energy = BigInt(String(gas)) - intrinsicGas(data)
    return tronBodies.constantCall.body({ result: `0x${String(result).slice(2)}`, energy })
  } catch (error) {
    // A call that the node does not run has reverted, or its caller lacks the coin sent along.
    const message = error instanceof Error ? error.message : String(error)
    return /revert/i.test(message)
      ? tronBodies.constantCall.body({ revert: '0x' })
      : tronBodies.refusals.body.call(message)
  }
}

/** Reads a call from a request, whose calldata is whole, or a function's signature and its arguments. */
function callBodyOf(request: RequestBody): CallBody {
  const { function_selector: signature, parameter = '', data, call_value = 0, fee_limit } = request
  const selector = typeof signature === 'string' ? keccak256Hex(Buffer.from(signature)).slice(2, 10) : ''
  const bytes = typeof data === 'string' ? data.replace(/^0x/, '') : `${selector}${parameter}`
  return {
    owner: evmAddress(request['owner_address']),
    contract: evmAddress(request['contract_address']),
    data: `0x${bytes}`,
    value: BigInt(Number(call_value)),
    ...(typeof fee_limit === 'number' && { feeLimitSun: fee_limit }),
  }
}

/** An account exists once it was paid, has code, or has sent a transaction. */
async function accountOf({ evm }: Source, address: string): Promise<unknown> {
  const params = [evmAddress(address), 'latest']
  const [balance, code, count] = await Promise.all([
    evm.node('eth_getBalance', params),
    evm.node('eth_getCode', params),
    evm.node('eth_getTransactionCount', params),
  ])
  const isAbsent = BigInt(String(balance)) === 0n && code === '0x' && BigInt(String(count)) === 0n
  return isAbsent ? missing : tronBodies.account.body(address, BigInt(String(balance)))
}

/** The EVM's form of a Tron address in hex, without its prefix. */
function evmAddress(value: unknown): Hex {
  return `0x${String(value).slice(2)}`
}
