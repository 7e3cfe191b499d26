import type { Hex } from '@causeway/core'
import { tronBodies } from './bodies.ts'
import type { CallBody, TronKnowledge, TronPrices } from './knowledge.ts'
import { intrinsicGas, readTrace } from './readTrace.ts'
import { type RpcBlock, renderBlock } from './renderBodies.ts'
import { readSigned, type SignedCall, signedBytes, signerOf, unsignedCall } from './transactions.ts'
import type { EvmBehind } from './tronLedger.ts'

export type Broadcasts = {
  /** A call that somebody may sign. */
  trigger(call: CallBody): Promise<unknown>
  /** A signed transaction: as nodes do, it is refused by a code, or taken and run. */
  take(signed: Uint8Array): Promise<unknown>
  /** Takes a transaction in two parts, each in hex. */
  takeParts(rawHex: string, signature: string): Promise<unknown>
}

const lifetimeMs = 60_000
const dayMs = 86_400_000
const usualFeeLimitSun = 30_000_000
/**
 * Runs signed calls on the node behind the facade, for whoever signed them. Ids, signatures, expiry, reference blocks,
 * limits and fees are those of the protocol; energy is the gas of the node, and nobody has staked or free resources.
 */
export function createBroadcasts(
  bed: Bed,
  ledger: TronKnowledge,
  { chainId, prices }: { readonly chainId: bigint; readonly prices: TronPrices },
): Broadcasts {
  async function run(call: SignedCall): Promise<unknown> {
    const refusal = await refuse(bed, ledger, call, chainId)
    if (refusal !== undefined) return tronBodies.refusals.body.broadcast(refusal, call.transactionId)
    const { owner, to, data, value, feeLimitSun, bytes } = call
    const intrinsic = intrinsicGas(data)
    const energyMax = feeLimitSun / BigInt(prices.sunPerEnergy)
    const before = BigInt(String(await bed.node('eth_getBalance', [owner, 'latest'])))
    // Gas is paid by nobody: what the call costs here is burnt afterwards.
    await bed.node('anvil_setBalance', [owner, hexOf(before + gasMoney)])
    await bed.node('anvil_impersonateAccount', [owner])
    const transaction = { from: owner, to, data, value: hexOf(value), gas: hexOf(intrinsic + energyMax) }
    const evmHash = String(await bed.node('eth_sendTransaction', [transaction]))
    const receipt = await minedReceipt(bed, evmHash)
    const gasUsed = BigInt(receipt.gasUsed)
    const energy = gasUsed > intrinsic ? gasUsed - intrinsic : 0n
    const feeSun = energy * BigInt(prices.sunPerEnergy) + BigInt((bytes + 64) * prices.sunPerByte)
    const after = BigInt(String(await bed.node('eth_getBalance', [owner, 'latest'])))
    const left = after + gasUsed * BigInt(receipt.effectiveGasPrice) - gasMoney - feeSun
    await bed.node('anvil_setBalance', [owner, hexOf(left > 0n ? left : 0n)])
    const hash: Hex = `0x${evmHash.slice(2)}`
    ledger.add(call.transactionId, {
      ...{ evmHash: hash, rawHex: call.rawHex, isContractCall: true, feeSun },
      trace: await readTrace(bed, hash),
    })
    return tronBodies.taken.body(call.transactionId)
  }

  /** Balances are put right behind each, and another endpoint may be told of the same one. */
  const take = (signed: Uint8Array): Promise<unknown> => ledger.inTurn(() => run(readSigned(signed)))

  return {
    async trigger({ owner, contract, data, value, feeLimitSun = usualFeeLimitSun }) {
      const code = String(await bed.node('eth_getCode', [contract, 'latest']))
      if (code === '0x') return tronBodies.refusals.body.call('No contract or not a valid smart contract')
      const head = await blockAt(bed, 'latest')
      const { blockID: blockId = '' } = renderBlock(head, chainId)
      const place = {
        ...{ blockId, createdMs: Date.now(), feeLimitSun },
        expiresMs: 1_000 * Number(head.timestamp) + lifetimeMs,
      }
      const call = { kind: 'trigger', to: contract, data, callValue: value } as const
      return tronBodies.unsigned.body(unsignedCall(owner, call, place))
    },
    take,
    takeParts: (rawHex, signature) => take(signedBytes(rawHex, signature)),
  }
}

type Bed = Pick<EvmBehind, 'node'>

async function blockAt(bed: Bed, number: string): Promise<RpcBlock> {
  return Object(await bed.node('eth_getBlockByNumber', [number, false]))
}

async function refuse(
  bed: Bed,
  { known }: Pick<TronKnowledge, 'known'>,
  call: SignedCall,
  chainId: bigint,
): Promise<string | undefined> {
  const head = await blockAt(bed, 'latest')
  const headMs = 1_000 * Number(head.timestamp)
  if (known.has(call.transactionId)) return 'DUP_TRANSACTION_ERROR'
  if (signerOf(call) !== call.owner) return 'SIGERROR'
  if (call.expiresMs <= headMs || call.expiresMs > headMs + dayMs) return 'TRANSACTION_EXPIRATION_ERROR'
  if (!(await isOfThisChain(bed, call, { head: Number(head.number), chainId }))) return 'TAPOS_ERROR'
  const balance = BigInt(String(await bed.node('eth_getBalance', [call.owner, 'latest'])))
  return balance < call.value ? 'CONTRACT_VALIDATE_ERROR' : undefined
}

/** The newest block whose number ends like the one that is named. */
async function isOfThisChain(
  bed: Bed,
  { blockBytes, blockHash }: SignedCall,
  { head, chainId }: { readonly head: number; readonly chainId: bigint },
): Promise<boolean> {
  const number = head - ((head - Number.parseInt(blockBytes, 16)) & 0xffff)
  if (number < 0) return false
  const { blockID = '' } = renderBlock(await blockAt(bed, `0x${number.toString(16)}`), chainId)
  return blockID.slice(16, 32) === blockHash
}

async function minedReceipt(bed: Bed, hash: string) {
  for (;;) {
    const receipt = await bed.node('eth_getTransactionReceipt', [hash])
    if (receipt !== null) return Object(receipt)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

const gasMoney = 10n ** 18n

const hexOf = (value: bigint): Hex => `0x${value.toString(16)}`
