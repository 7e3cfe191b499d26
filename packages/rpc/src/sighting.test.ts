import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Sighting, type SightingVote, tallySightings } from './sighting.ts'
import type { Electorate } from './tally.ts'

type Facts = { readonly value: string }
const electorate = (number: number, threshold: number): Electorate => ({
  voters: Array.from({ length: number }, (_, at) => ({ alias: `e${at}`, voice: `e${at}` })),
  threshold,
})
const of3 = electorate(3, 2)
const final = (value: string): Sighting<Facts> => ({ kind: 'final', facts: { value } })
const young: Sighting<Facts> = { kind: 'not_final', waitSeconds: 5 }
const missing: Sighting<Facts> = { kind: 'refused', reason: 'missing' }
const reverted: Sighting<Facts> = { kind: 'refused', reason: 'reverted' }
const silent = undefined

function votes(...sightings: readonly (Sighting<Facts> | undefined)[]): readonly SightingVote<Facts>[] {
  return sightings.map((sighting, index) => ({ alias: `e${index}`, voice: `e${index}`, sighting }))
}

describe('tallySightings', () => {
  test.each<readonly [string, readonly (Sighting<Facts> | undefined)[], object | undefined]>([
    ['two equal facts agree', [final('x'), final('x')], { status: 'agreed', aliases: ['e0', 'e1'] }],
    ['one of three is not enough', [final('x')], undefined],
    ['a contradiction may still be outvoted', [final('x'), final('y')], undefined],
    [
      'three different facts disagree',
      [final('x'), final('y'), final('z')],
      { status: 'disagreed', groups: 3 },
    ],
    [
      'a contradiction with a dead third disagrees',
      [final('x'), final('y'), silent],
      { status: 'disagreed' },
    ],
    ['two that are silent decide', [silent, silent], { status: 'silent' }],
    [
      'final and not final is not final',
      [final('x'), young, silent],
      { status: 'not_final', waitSeconds: 5 },
    ],
    ['final and not final waits for the third', [final('x'), young], undefined],
    ['not seen yet and not final is not final', [missing, young], { status: 'not_final' }],
    ['missing twice is missing', [missing, missing], { status: 'refused', reason: 'missing' }],
    [
      'F-83: missing twice and shown once names what is shown',
      [missing, missing, final('x')],
      { status: 'refused', reason: 'missing', shown: { value: 'x' } },
    ],
    ['missing once may still be found by two', [missing], undefined],
    ['missing and found, without a third, disagrees', [missing, final('x'), silent], { status: 'disagreed' }],
    ['reverted and final disagrees', [reverted, final('x'), silent], { status: 'disagreed' }],
    ['reverted twice is reverted', [silent, reverted, reverted], { status: 'refused', reason: 'reverted' }],
  ])('%s', (_name, sightings, expected) => {
    const outcome = tallySightings(votes(...sightings), of3)
    if (expected === undefined) expect(outcome).toBeUndefined()
    else expect(outcome).toMatchObject(expected)
  })

  test('with a threshold of one, facts that may still come are waited for before missing is said', () => {
    expect(tallySightings(votes(missing), electorate(3, 1))).toBeUndefined()
  })

  test('counts a host once, through however many URLs it speaks', () => {
    const voters = ['a', 'b', 'c'].map((alias) => ({ alias, voice: alias === 'c' ? 'honest' : 'liar' }))
    const said = (value: string, at: number) => ({
      alias: 'abc'[at] ?? '',
      voice: voters[at]?.voice ?? '',
      sighting: final(value),
    })
    const twice = [said('x', 0), said('x', 1)]
    expect(tallySightings(twice, { voters, threshold: 2 })).toBeUndefined()
    expect(tallySightings([...twice, said('y', 2)], { voters, threshold: 2 })).toMatchObject({
      status: 'disagreed',
    })
    expect(tallySightings([...twice, said('x', 2)], { voters, threshold: 2 })).toMatchObject({
      status: 'agreed',
    })
  })

  test('says facts exactly when enough say them, in any order of votes, and ends once all have voted', () => {
    const one = fc.constantFrom(final('x'), final('y'), young, missing, reverted, silent)
    const all = fc.array(one, { minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(all, fc.integer({ min: 1, max: 6 }), (sightings, wanted) => {
        const threshold = Math.min(wanted, sightings.length)
        const tally = electorate(sightings.length, threshold)
        const outcome = tallySightings(votes(...sightings), tally)
        const count = (value: string) =>
          sightings.filter((sighting) => sighting?.kind === 'final' && sighting.facts.value === value).length
        expect(outcome).toBeDefined()
        expect(outcome?.status === 'agreed').toBe(Math.max(count('x'), count('y')) >= threshold)
        expect(tallySightings(votes(...sightings.toReversed()), tally)?.status).toBe(outcome?.status)
      }),
      { endOnFailure: true },
    )
  })

  test('never changes once it was said, whatever votes follow', () => {
    const one = fc.constantFrom(final('x'), young, missing, silent)
    fc.assert(
      fc.property(fc.array(one, { minLength: 5, maxLength: 5 }), (sightings) => {
        const tally = electorate(5, 4)
        const spoken = sightings
          .map((_, index) => tallySightings(votes(...sightings.slice(0, index + 1)), tally)?.status)
          .filter((status) => status !== undefined)
        // A refusal may become more precise later; facts never change.
        expect(new Set(spoken.map((status) => status === 'agreed')).size).toBeLessThanOrEqual(1)
      }),
      { endOnFailure: true },
    )
  })
})
