import type { Hex } from '@causeway/core'
import type { RpcFrame } from './renderBodies.ts'
import type { EvmBehind } from './tronLedger.ts'

/** The calls that a transaction made. */
export async function readTrace(bed: Pick<EvmBehind, 'node'>, evmHash: Hex): Promise<RpcFrame> {
  return Object(await bed.node('debug_traceTransaction', [evmHash, { tracer: 'callTracer' }]))
}

/** Gas of an EVM call before its code runs, which no energy stands for. @source EIP-2028 */
export function intrinsicGas(data: Hex): bigint {
  const bytes = Buffer.from(data.slice(2), 'hex')
  const zeros = bytes.filter((byte) => byte === 0).length
  return 21_000n + BigInt(4 * zeros + 16 * (bytes.length - zeros))
}
