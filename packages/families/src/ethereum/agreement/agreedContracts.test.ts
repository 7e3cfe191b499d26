import type { RpcAnswer } from '@causeway/rpc'
import { defaultThreshold, tally, type Vote } from '@causeway/rpc'
import { encodeFunctionResult, type Hex, multicall3Abi } from 'viem'
import { expect, test } from 'vitest'
import { agreedContracts } from './agreedContracts.ts'

/** Answers of three endpoints about two contracts; `behind` if the endpoint does not have the block yet. */
type Said = readonly [Hex, Hex] | 'behind'

function answersOf(said: readonly Said[], undecided: 'wait' | 'refuse') {
  const voters = said.map((_, index) => ({ alias: `e${index}`, voice: `e${index}` }))
  const electorate = { voters, threshold: defaultThreshold(voters.length) }
  const votes = said.map((one, index): Vote<RpcAnswer> => {
    const voter = { alias: `e${index}`, voice: `e${index}` }
    return { ...voter, value: one === 'behind' ? undefined : { ok: true, result: encoded(one) } }
  })
  const verdict = tally(votes, electorate)
  const client = { chainId: 'base', electorate, poll: () => Promise.reject(new Error('nothing is asked')) }
  return agreedContracts(client, { verdict, votes, undecided }, 2).map(({ success, returnData }) =>
    success ? returnData : undefined,
  )
}

function encoded(words: readonly Hex[]): Hex {
  const result = words.map((returnData) => ({ success: true, returnData }))
  return encodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', result })
}

test('a disputed member takes nothing from the others', () => {
  expect(
    answersOf(
      [
        ['0x01', '0x02'],
        ['0x01', '0x03'],
        ['0x01', '0x04'],
      ],
      'wait',
    ),
  ).toEqual(['0x01', undefined])
})

test('what two of three say counts, whatever the third says of it', () => {
  expect(
    answersOf(
      [
        ['0x01', '0x02'],
        ['0xff', '0x02'],
        ['0x01', '0xff'],
      ],
      'wait',
    ),
  ).toEqual(['0x01', '0x02'])
})

test('what an endpoint that is behind could decide is waited for', () => {
  expect(() => answersOf([['0x01', '0x02'], ['0x01', '0xff'], 'behind'], 'wait')).toThrow(
    expect.objectContaining({ code: 'RPC_HTTP_ERROR' }),
  )
})

test('and is refused alone once that has lasted', () => {
  expect(answersOf([['0x01', '0x02'], ['0x01', '0xff'], 'behind'], 'refuse')).toEqual(['0x01', undefined])
})
