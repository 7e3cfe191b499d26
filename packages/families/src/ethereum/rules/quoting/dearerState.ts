import { maxBigint, minBigint } from '@causeway/core'
import type { DearerState, ShapeUnits } from '../../../rules/measuredUnits.ts'
import {
  createdSlotUnits,
  type GasShape,
  gasUnits,
  type NewState,
  newClone,
  newState,
  orderCloneUnits,
  usedUnits,
} from './gasUnits.ts'

/** No surcharge: new state takes as many units as the release assumes. */
export const stateAsCounted: DearerState = { slotUnits: 0n, accountUnits: 0n }

/**
 * Units that the two probed shapes used when the constants were measured. `approve` creates a slot, which `usedUnits`
 * leaves out; `send-native` an account, which then cost no units if a transaction paid it directly.
 */
const usedWhenMeasured = {
  approve: usedUnits.approve + createdSlotUnits,
  'send-native': usedUnits['send-native'],
} as const

/** Highest accepted multiple of the assumed units, unless the quote file sets another one. */
const defaultTimesMax = 10

/**
 * Shapes whose estimate is above the bound. Such an estimate is not believed, and the chain stops.
 * @param timesMax `feeModel.unitsTimesMax` of the chain @source F-110
 */
export function aboveBound(shapes: readonly ShapeUnits[], timesMax?: number): readonly ShapeUnits[] {
  return shapes.filter((shape) => shape.units > boundOf(shape, timesMax))
}

const boundOf = ({ countedUnits }: Pick<ShapeUnits, 'countedUnits'>, timesMax = defaultTimesMax): bigint =>
  countedUnits * BigInt(timesMax)

/**
 * Surcharge for new state, from a network's estimates. It is 0 while an estimate is within the assumed units, whose
 * room covers such differences, so that prices stay stable. Above them it is the estimate, at most the bound, less the
 * units when the constants were measured; it comes on top of the assumed units, room included. Pure. @source F-113
 */
export function dearerStateOf(shapes: readonly ShapeUnits[], timesMax?: number): DearerState {
  const surcharge = (name: keyof typeof usedWhenMeasured): bigint => {
    const measured = shapes.find(({ shape }) => shape === name)
    if (measured === undefined || measured.units <= measured.countedUnits) return 0n
    return minBigint(measured.units, boundOf(measured, timesMax)) - usedWhenMeasured[name]
  }
  return { slotUnits: surcharge('approve'), accountUnits: surcharge('send-native') }
}

/** Surcharge of a transaction that creates so many slots and accounts. */
export function dearerUnits({ slots, accounts }: NewState, { slotUnits, accountUnits }: DearerState): bigint {
  return BigInt(slots) * slotUnits + BigInt(accounts) * accountUnits
}

/** Gas units of a shape on a network with this surcharge. @source F-114 */
export function unitsOn(shape: GasShape, dearer: DearerState): bigint {
  return gasUnits[shape] + dearerUnits(newState[shape], dearer)
}

/**
 * Units that an order's calls add to a fill, from a simulation of the whole fill: the excess over a plain fill and the
 * clone. With calls it is at least 1, because 0 means a fill without calls and clone.
 */
export function callUnitsOf(
  fillUnits: bigint,
  options: {
    readonly isNative: boolean
    readonly hasCalls: boolean
    /** Surcharge of the chain on which the fill was simulated; absent: none. */
    readonly dearer?: DearerState | undefined
  },
): bigint {
  const { isNative, hasCalls, dearer = stateAsCounted } = options
  const cloneUnits = hasCalls ? orderCloneUnits + dearerUnits(newClone, dearer) : 0n
  const plainUnits = unitsOn(isNative ? 'fill-native' : 'fill-erc20', dearer) + cloneUnits
  const leastUnits = hasCalls ? 1n : 0n
  return maxBigint(fillUnits - plainUnits, leastUnits)
}
