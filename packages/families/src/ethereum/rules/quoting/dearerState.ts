import { minBigint } from '@causeway/core'
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

/** Gas units of a new slot and of a new account above those that the release assumes. */
export type DearerState = { readonly slotUnits: bigint; readonly accountUnits: bigint }

/** State takes what the release counts on. */
export const stateAsCounted: DearerState = { slotUnits: 0n, accountUnits: 0n }

/** Gas units of a transaction on a network now, by the network's own estimate. */
export type ShapeUnits = {
  readonly shape: string
  /** Units that the network estimates. */
  readonly units: bigint
  /** Units that the service assumes. */
  readonly countedUnits: bigint
}

/**
 * Units of each measured shape at the time when the constants were measured: one creates a slot and no account, the
 * other an account.
 */
const usedWhenCounted = {
  approve: usedUnits.approve + createdSlotUnits,
  'send-native': usedUnits['send-native'],
} as const

/** Highest accepted multiple of the assumed units, unless the quote file sets another one. */
const timesMaxByDefault = 10

/**
 * Shapes above the bound on a network's units: no estimate so high is believed, and the chain stops.
 * @param timesMax `feeModel.unitsTimesMax` of the chain @source F-110
 */
export function aboveBound(shapes: readonly ShapeUnits[], timesMax?: number): readonly ShapeUnits[] {
  return shapes.filter((shape) => shape.units > boundOf(shape, timesMax))
}

const boundOf = ({ countedUnits }: Pick<ShapeUnits, 'countedUnits'>, timesMax = timesMaxByDefault): bigint =>
  countedUnits * BigInt(timesMax)

/**
 * By what was measured, never below what the release counts on: within that the room above what is used holds all
 * differences, and prices stay as they are. Beyond it the room stays: what is measured above the use of then counts in
 * full, up to the bound. Pure. @source F-113
 */
export function dearerStateOf(shapes: readonly ShapeUnits[], timesMax?: number): DearerState {
  const more = (name: keyof typeof usedWhenCounted): bigint => {
    const measured = shapes.find(({ shape }) => shape === name)
    if (measured === undefined || measured.units <= measured.countedUnits) return 0n
    return minBigint(measured.units, boundOf(measured, timesMax)) - usedWhenCounted[name]
  }
  return { slotUnits: more('approve'), accountUnits: more('send-native') }
}

/** Gas units of new state above those that the release assumes. */
export function dearerUnits({ slots, accounts }: NewState, { slotUnits, accountUnits }: DearerState): bigint {
  return BigInt(slots) * slotUnits + BigInt(accounts) * accountUnits
}

/** Units of a shape where state takes so much. @source F-114 */
export function unitsOn(shape: GasShape, dearer: DearerState): bigint {
  return gasUnits[shape] + dearerUnits(newState[shape], dearer)
}

/**
 * Units that calls add to a fill, where the whole of it was measured: what is left once a plain fill and the clone
 * are taken off. Calls take at least one, so that they are priced as no less than both.
 */
export function callUnitsOf(
  fillUnits: bigint,
  options: {
    readonly isNative: boolean
    readonly hasCalls: boolean
    /** Surcharge of the chain that the fill was measured on; absent: none. */
    readonly dearer?: DearerState | undefined
  },
): bigint {
  const { isNative, hasCalls, dearer = stateAsCounted } = options
  const clone = hasCalls ? orderCloneUnits + dearerUnits(newClone, dearer) : 0n
  const plain = unitsOn(isNative ? 'fill-native' : 'fill-erc20', dearer) + clone
  const least = hasCalls ? 1n : 0n
  return fillUnits > plain + least ? fillUnits - plain : least
}
