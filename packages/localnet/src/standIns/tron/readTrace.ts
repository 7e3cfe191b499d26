import type { Hex } from '@causeway/core'
import type { RpcFrame } from './renderBodies.ts'
import type { EvmBehind } from './tronLedger.ts'

/** The calls that a transaction made. */
export async function readTrace(bed: Pick<EvmBehind, 'node'>, evmHash: Hex): Promise<RpcFrame> {
  return Object(await bed.node('debug_traceTransaction', [evmHash, { tracer: 'callTracer' }]))
}
