import { minBigint } from '@causeway/core'
import type { GasShape } from './ethereumFees.ts'
import {
  createdSlotUnits,
  gasUnits,
  type NewState,
  newClone,
  newState,
  orderCloneUnits,
  usedUnits,
} from './gasUnits.ts'

/** What a new slot and a new account take beyond what the release counts on, in units of gas. */
export type DearerState = { readonly slotUnits: bigint; readonly accountUnits: bigint }

/** State takes what the release counts on. */
export const stateAsCounted: DearerState = { slotUnits: 0n, accountUnits: 0n }

/** What a transaction takes on a network now, by its own word. */
export type ShapeUnits = {
  readonly shape: string
  /** What the network asks for. */
  readonly units: bigint
  /** What the service counts on. */
  readonly countedUnits: bigint
}

/** What each measured shape used where its units come from: one makes a slot and no account, the other an account. */
const usedWhenCounted = {
  approve: usedUnits.approve + createdSlotUnits,
  'send-native': usedUnits['send-native'],
} as const

/** How many times what the service counts on a network may ask for, unless its quote file says otherwise. */
const timesMaxByDefault = 10

/**
 * What is more than the service lets a network ask for: no estimate is believed so far, and the chain stops.
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

/** What state takes beyond what the release counts on, in units of gas. */
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
    /** Where the fill was measured; absent: as counted. */
    readonly dearer?: DearerState | undefined
  },
): bigint {
  const { isNative, hasCalls, dearer = stateAsCounted } = options
  const clone = hasCalls ? orderCloneUnits + dearerUnits(newClone, dearer) : 0n
  const plain = unitsOn(isNative ? 'fill-native' : 'fill-erc20', dearer) + clone
  const least = hasCalls ? 1n : 0n
  return fillUnits > plain + least ? fillUnits - plain : least
}
