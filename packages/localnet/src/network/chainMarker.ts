import type { Hex } from '@causeway/core'
import { concatHex, pad, toHex } from 'viem'
import type { LocalChain } from '../nodes/localChain.ts'

/** Nobody's address: the first 20 bytes of keccak-256 of "causeway local network". */
const markerAddress: Hex = '0xab9cfdeebe180453a57ca47168484af0eda3a2e3'
/** Calling the marker fails: its code starts with the invalid opcode. */
const invalidOpcode: Hex = '0xfe'
const baseFeeSlot = 0

/**
 * Writes on the chain itself which network and chain id it has. So a start recognises a chain file that was copied from
 * another network, or from another of the three chains.
 */
export async function markChain(chain: LocalChain, networkId: Hex): Promise<void> {
  await chain.node.setCode({ address: markerAddress, bytecode: markerCode(chain, networkId) })
}

export async function isMarked(chain: LocalChain, networkId: Hex): Promise<boolean> {
  const code = await chain.client.getCode({ address: markerAddress })
  return code === markerCode(chain, networkId)
}

/** The base fee an operator asked for; `undefined` when nobody did. It is kept in the chain's own state. */
export async function readRequestedBaseFee(chain: LocalChain): Promise<bigint | undefined> {
  const word = await chain.client.getStorageAt({ address: markerAddress, slot: toHex(baseFeeSlot) })
  const baseFeeWei = BigInt(word ?? '0x0')
  return baseFeeWei === 0n ? undefined : baseFeeWei
}

export async function writeRequestedBaseFee(chain: LocalChain, baseFeeWei: bigint): Promise<void> {
  const value = toHex(baseFeeWei, { size: 32 })
  await chain.node.setStorageAt({ address: markerAddress, index: baseFeeSlot, value })
}

function markerCode({ chainId }: LocalChain, networkId: Hex): Hex {
  return concatHex([invalidOpcode, networkId, pad(toHex(chainId))])
}
