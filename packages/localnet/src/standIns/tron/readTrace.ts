import type { Hex } from '@causeway/core'
import type { RpcFrame } from './renderBodies.ts'
import type { EvmBackend } from './tronLedger.ts'

/** Reads the calls that a transaction made. */
export async function readTrace(evm: Pick<EvmBackend, 'node'>, evmHash: Hex): Promise<RpcFrame> {
  return Object(await evm.node('debug_traceTransaction', [evmHash, { tracer: 'callTracer' }]))
}

/** Gas of an EVM transaction before its code runs, which costs no energy on Tron. @source EIP-2028 */
export function intrinsicGas(data: Hex): bigint {
  const bytes = Buffer.from(data.slice(2), 'hex')
  const zeros = bytes.filter((byte) => byte === 0).length
  return 21_000n + BigInt(4 * zeros + 16 * (bytes.length - zeros))
}
