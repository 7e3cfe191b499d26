import type { Hex } from '@causeway/core'
import { tronBodies } from './bodies.ts'
import type { CallBody, TronKnowledge, TronPrices } from './knowledge.ts'
import { intrinsicGas, readTrace } from './readTrace.ts'
import { type RpcBlock, renderBlock } from './renderBodies.ts'
import { readSigned, type SignedCall, signedBytes, signerOf, unsignedCall } from './transactions.ts'
import type { EvmBackend } from './tronLedger.ts'

/** The part of the facade that makes, takes and runs transactions. */
export type Broadcasts = {
  /** Makes the unsigned transaction of a call. */
  trigger(call: CallBody): Promise<unknown>
  /** Takes a signed transaction: refuses it by a code, as nodes do, or runs it. */
  take(signed: Uint8Array): Promise<unknown>
  /** Takes a transaction in two parts, each in hex. */
  takeParts(rawHex: string, signature: string): Promise<unknown>
}

const lifetimeMs = 60_000
const dayMs = 86_400_000
const usualFeeLimitSun = 30_000_000
/** Bytes that the protocol adds to a transaction's size for its result. */
const resultBytes = 64

/**
 * Runs signed calls on the EVM node behind the facade, as if their signers had sent them. Ids, signatures, expiry,
 * reference blocks, limits and fees are those of the protocol; energy is the gas of the node, and nobody has staked or
 * free resources.
 */
export function createBroadcasts(
  evm: EvmNode,
  ledger: TronKnowledge,
  { chainId, prices }: { readonly chainId: bigint; readonly prices: TronPrices },
): Broadcasts {
  async function run(call: SignedCall): Promise<unknown> {
    const refusal = await findRefusal(evm, ledger, call, chainId)
    if (refusal !== undefined) return tronBodies.refusals.body.broadcast(refusal, call.transactionId)
    const { owner, to, data, value, feeLimitSun, byteLength } = call
    const intrinsic = intrinsicGas(data)
    const energyMax = feeLimitSun / BigInt(prices.sunPerEnergy)
    const before = BigInt(String(await evm.node('eth_getBalance', [owner, 'latest'])))
    // The node charges the owner for gas, so he is lent coins. Below he gets the gas back, returns the loan
    // and pays the fee, at most all he has.
    await evm.node('anvil_setBalance', [owner, hexOf(before + gasAllowance)])
    await evm.node('anvil_impersonateAccount', [owner])
    const transaction = { from: owner, to, data, value: hexOf(value), gas: hexOf(intrinsic + energyMax) }
    const evmHash = String(await evm.node('eth_sendTransaction', [transaction]))
    const receipt = await minedReceipt(evm, evmHash)
    const gasUsed = BigInt(receipt.gasUsed)
    const energy = gasUsed > intrinsic ? gasUsed - intrinsic : 0n
    const bandwidthSun = BigInt((byteLength + resultBytes) * prices.sunPerByte)
    const feeSun = energy * BigInt(prices.sunPerEnergy) + bandwidthSun
    const after = BigInt(String(await evm.node('eth_getBalance', [owner, 'latest'])))
    const paidForGas = gasUsed * BigInt(receipt.effectiveGasPrice)
    const balance = after + paidForGas - gasAllowance - feeSun
    await evm.node('anvil_setBalance', [owner, hexOf(balance > 0n ? balance : 0n)])
    const hash: Hex = `0x${evmHash.slice(2)}`
    ledger.add(call.transactionId, {
      evmHash: hash,
      rawHex: call.rawHex,
      isContractCall: true,
      feeSun,
      trace: await readTrace(evm, hash),
    })
    return tronBodies.taken.body(call.transactionId)
  }

  /**
   * Runs transactions one after the other: each run sets a balance at its end, and a client sends one
   * transaction to several endpoints, of which only the first may run it.
   */
  const take = (signed: Uint8Array): Promise<unknown> => ledger.inTurn(() => run(readSigned(signed)))

  return {
    async trigger({ owner, contract, data, value, feeLimitSun = usualFeeLimitSun }) {
      const code = String(await evm.node('eth_getCode', [contract, 'latest']))
      if (code === '0x') return tronBodies.refusals.body.call('No contract or not a valid smart contract')
      const head = await blockAt(evm, 'latest')
      const { blockID: blockId = '' } = renderBlock(head, chainId)
      const validity = {
        blockId,
        createdMs: Date.now(),
        feeLimitSun,
        expiresMs: 1_000 * Number(head.timestamp) + lifetimeMs,
      }
      const call = { kind: 'trigger', to: contract, data, callValue: value } as const
      return tronBodies.unsigned.body(unsignedCall(owner, call, validity))
    },
    take,
    takeParts: (rawHex, signature) => take(signedBytes(rawHex, signature)),
  }
}

/** The parts of the EVM node that runs are made with. */
type EvmNode = Pick<EvmBackend, 'node'>

async function blockAt(evm: EvmNode, number: string): Promise<RpcBlock> {
  return Object(await evm.node('eth_getBlockByNumber', [number, false]))
}

/** The code by which a node refuses a transaction; undefined where it takes it. */
async function findRefusal(
  evm: EvmNode,
  { known }: Pick<TronKnowledge, 'known'>,
  call: SignedCall,
  chainId: bigint,
): Promise<string | undefined> {
  const head = await blockAt(evm, 'latest')
  const headMs = 1_000 * Number(head.timestamp)
  if (known.has(call.transactionId)) return 'DUP_TRANSACTION_ERROR'
  if (signerOf(call) !== call.owner) return 'SIGERROR'
  if (call.expiresMs <= headMs || call.expiresMs > headMs + dayMs) return 'TRANSACTION_EXPIRATION_ERROR'
  if (!(await isOfThisChain(evm, call, { head: Number(head.number), chainId }))) return 'TAPOS_ERROR'
  const balance = BigInt(String(await evm.node('eth_getBalance', [call.owner, 'latest'])))
  return balance < call.value ? 'CONTRACT_VALIDATE_ERROR' : undefined
}

/**
 * Checks the reference block. A transaction names it by the last two bytes of its number and by eight bytes of its id; the
 * newest block with such a number is meant.
 */
async function isOfThisChain(
  evm: EvmNode,
  { blockBytes, blockHash }: SignedCall,
  { head, chainId }: { readonly head: number; readonly chainId: bigint },
): Promise<boolean> {
  const number = head - ((head - Number.parseInt(blockBytes, 16)) & 0xffff)
  if (number < 0) return false
  const { blockID = '' } = renderBlock(await blockAt(evm, `0x${number.toString(16)}`), chainId)
  return blockID.slice(16, 32) === blockHash
}

async function minedReceipt(evm: EvmNode, hash: string) {
  for (;;) {
    const receipt = await evm.node('eth_getTransactionReceipt', [hash])
    if (receipt !== null) return Object(receipt)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** Smallest units of the node's coin, more than the gas of a call costs. */
const gasAllowance = 10n ** 18n

const hexOf = (value: bigint): Hex => `0x${value.toString(16)}`
