// One step of a run: who does what, to which of the things that are there. Every member is a small number, so
// that a failing run shrinks to few steps that still mean something.
import fc from 'fast-check'
import { adversaries } from './adversarySteps.ts'
import { cheats } from './cheatSteps.ts'
import { honest, wholeWays } from './honestSteps.ts'
import type { Picks, Play } from './stepParts.ts'
import type { World } from './world.ts'

export type Step = Picks & { readonly do: StepName }

const plays: Readonly<Record<StepName, Play>> = { ...honest, ...wholeWays, ...adversaries, ...cheats }
export type StepName =
  | keyof typeof honest
  | keyof typeof wholeWays
  | keyof typeof adversaries
  | keyof typeof cheats

/** Frequency of a step relative to the others. */
const weights: Partial<Record<StepName, number>> = {
  quote: 4,
  depositFor: 5,
  depositOwn: 4,
  mint: 3,
  serve: 3,
  carryOut: 6,
  settleFill: 5,
  settleRefund: 3,
  initiate: 5,
  issue: 5,
  signIssued: 2,
  payOut: 5,
  closeRequested: 3,
  close: 5,
  bringAgain: 2,
  reorganize: 3,
  life: 12,
  leave: 8,
  topUp: 3,
  ask: 3,
  feeBegins: 4,
  payPlainly: 6,
  payOnceForTwo: 5,
  nothing: 0,
}

const names = (Object.keys(plays) satisfies string[]).flatMap((name) => {
  // CAST: keys of the object that the type is made of.
  const step = name as StepName
  return Array.from({ length: weights[step] ?? 1 }, () => step)
})

/** Mostly what is newest. */
const newest = fc.oneof({ weight: 3, arbitrary: fc.nat(1) }, { weight: 2, arbitrary: fc.nat(7) })
const recent = fc.nat(7)
const nothing: Step = { do: 'nothing', a: 0, b: 0, c: 0, units: 0, flag: false }

/** Shrinks to a step that does nothing. */
export const step: fc.Arbitrary<Step> = fc.oneof(
  { withCrossShrink: true },
  { weight: 1, arbitrary: fc.constant(nothing) },
  {
    weight: 60,
    arbitrary: fc.record({
      do: fc.constantFrom(...names),
      a: newest,
      b: recent,
      c: recent,
      units: fc.integer({ min: 20, max: 2_000 }),
      flag: fc.boolean(),
    }),
  },
)

export async function take(world: World, taken: Step): Promise<void> {
  await plays[taken.do](world, taken)
}
