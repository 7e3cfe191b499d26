// Goal: calls of an account may cost the solver what was charged for them, also where state became dearer. Attack: a
// surcharge that is counted twice, so that the solver pays more than was charged, or left out, so that it gives up what
// was paid for. Method: the sum that the solver makes of the work, over fees of the same network.
import { EthereumFees, type GasShape, gasShapes, gasUnits } from '@causeway/families/rules'
import { expect, test } from 'vitest'
import { testConfig } from '../../../test/fixtures/market.ts'
import { executionUnits, solverGasLimit } from './gas.ts'

const originGasOverhead = 50_000n
const asset = (id: string) => {
  const found = testConfig().assets.find((one) => one.id === id)
  if (found === undefined) throw new Error(`no asset ${id}`)
  return found
}

test.each([
  ['a deposit', 'usdc', 'execute'],
  ['a swap before it', 'tide', 'execute-swap'],
] as const)('F-114: the solver may spend on %s what was charged', (_what, id, kind) => {
  for (const dearer of [
    { slotUnits: 0n, accountUnits: 0n },
    { slotUnits: 75_820n, accountUnits: 183_600n },
  ]) {
    const fees = new EthereumFees({
      gasPrice: { expectedWei: 1n, maxFeePerGasWei: 2n, maxPriorityFeePerGasWei: 1n },
      gasUnits,
      dearer,
      // CAST: filled from the closed list of shapes.
      l1DataFeeWei: Object.fromEntries(gasShapes.map((shape) => [shape, 0n])) as Record<GasShape, bigint>,
    })
    const charged = fees.costOf({ kind, isNative: false, overheadUnits: originGasOverhead })
    const gasMax = executionUnits({ asset: asset(id) }, { originGasOverhead }, dearer)
    // As `apps/solver/src/work/relays.ts` reads it.
    const overheadUnits = solverGasLimit(gasMax, dearer) - gasUnits.execute
    expect(gasMax).toBe(charged)
    expect(fees.costOf({ kind: 'execute', isNative: false, overheadUnits })).toBe(charged)
  }
})
