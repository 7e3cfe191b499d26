import type { Hex } from '@causeway/core'
import { describe, expect, test } from 'vitest'
import { classifyTopUps, needsTrace } from './classifyTopUps.ts'
import { encodeTopUp } from './encodeTopUp.ts'
import {
  account,
  amount,
  custody,
  directCall,
  frame,
  logOf,
  marker,
  named,
  sender,
  target,
  token,
  transferCall,
  transferFromCall,
  word,
} from './testSupport/calls.ts'
import type { CallFrame, TopUpFacts, TopUpTarget } from './topUp.ts'

const zero = account('00')

function parsesOf(facts: TopUpFacts, rules: TopUpTarget = target): readonly string[] {
  return classifyTopUps(facts, rules).map(({ verdict }) =>
    verdict.kind === 'credit' ? `${verdict.parse} ${verdict.owner}` : verdict.parse,
  )
}

describe('row 2: without success or a matching log there is no top-up', () => {
  test('a failed transaction is ignored', () => {
    expect(parsesOf({ ...directCall(transferCall(named(account('33')))), succeeded: false })).toEqual([])
  })

  test('a transaction without a transfer to custody is ignored', () => {
    expect(parsesOf({ ...directCall(transferCall(named(account('33')))), logs: [] })).toEqual([])
  })
})

describe('row 3: noise is ignored', () => {
  test('a transfer of nothing', () => {
    const facts = directCall(transferCall(named(account('33')), { value: 0n }))
    expect(parsesOf({ ...facts, logs: [logOf({ value: 0n })] })).toEqual([])
  })

  test('a transfer by custody itself', () => {
    const facts = directCall(transferCall(named(account('33'))))
    expect(parsesOf({ ...facts, from: custody, logs: [logOf({ from: custody })] })).toEqual([])
  })
})

describe('row 4: a direct transfer with a tail', () => {
  test('credits the named account', () => {
    expect(parsesOf(directCall(transferCall(named(account('33')))))).toEqual([`ok ${account('33')}`])
  })

  test('credits the sender when the tail names nobody', () => {
    expect(parsesOf(directCall(transferCall(named(zero))))).toEqual([`ok ${sender}`])
  })

  test('is what the published example decodes to', () => {
    const example: Hex =
      '0xa9059cbb000000000000000000000000222222222222222222222222222222222222222200000000000000000000000000000000000000000000000000000000017d7840012345abcdef3333333333333333333333333333333333333333012345abcdef'
    expect(encodeTopUp({ token, custody, amountMicroUsd: amount, owner: account('33') }).data).toBe(example)
    expect(parsesOf(directCall(example))).toEqual([`ok ${account('33')}`])
  })

  test.each([
    ['another amount than the log', transferCall(named(account('33')), { value: amount + 1n })],
    ['another receiver', transferCall(named(account('33')), { to: account('44') })],
    [
      'dirty bytes above the receiver',
      transferCall(named(account('33'))).replace('0xa9059cbb0', '0xa9059cbb1'),
    ],
    ['another selector', transferCall(named(account('33'))).replace('a9059cbb', '095ea7b3')],
    ['fewer bytes than a selector', '0xa905'],
    ['nothing', '0x'],
  ])('a call with %s explains no transfer', (_what, input) => {
    // CAST: the cases are hex texts.
    expect(parsesOf(directCall(input as Hex))).toEqual(['unknown_call'])
  })

  test('the amount is the log’s, and tokens that moved from another account than the caller are not explained', () => {
    const facts = directCall(transferCall(named(account('33'))))
    expect(parsesOf({ ...facts, logs: [logOf({ from: account('55') })] })).toEqual(['unknown_call'])
    expect(classifyTopUps(facts, target)[0]?.log.value).toBe(amount)
  })
})

describe('row 5: bytes after the tail', () => {
  const input = transferCall(`${named(account('33'))}beef`)

  test('are ignored and told', () => {
    expect(parsesOf(directCall(input))).toEqual([`ok_trailing ${account('33')}`])
  })

  test('are suspended where the setting refuses them', () => {
    expect(parsesOf(directCall(input), { ...target, allowTrailing: false })).toEqual(['trailing_bytes'])
  })

  test('cannot bring a second tail that counts', () => {
    const input = transferCall(`${named(account('33'))}${named(account('44'))}`)
    expect(parsesOf(directCall(input))).toEqual([`ok_trailing ${account('33')}`])
  })
})

describe('row 6: half a tail', () => {
  test.each([
    ['without its suffix', `${marker}${'33'.repeat(20)}${'00'.repeat(6)}`],
    ['without its prefix', `${'00'.repeat(6)}${'33'.repeat(20)}${marker}`],
    ['of 31 bytes', `${marker}${'33'.repeat(20)}${marker.slice(0, 10)}`],
    ['of one byte', '01'],
  ])('%s is a bad tail', (_what, tail) => {
    expect(parsesOf(directCall(transferCall(tail)))).toEqual(['bad_tail'])
  })
})

describe('row 7: no tail', () => {
  test('a plain transfer is no top-up', () => {
    expect(parsesOf(directCall(transferCall('')))).toEqual(['no_tail'])
  })

  test('a tail one byte too late is no tail: its place is fixed', () => {
    expect(parsesOf(directCall(transferCall(`00${named(account('33'))}`)))).toEqual(['no_tail'])
  })

  test('Q-232: 32 bytes without markers may be an id, and are kept', () => {
    const [transfer] = classifyTopUps(directCall(transferCall('ab'.repeat(32))), target)
    expect(transfer).toMatchObject({ verdict: { parse: 'no_tail' }, tail: `0x${'ab'.repeat(32)}` })
  })
})

describe('row 8: owners that nobody can be', () => {
  test.each([
    ['custody', custody],
    ['the token', token],
    ['the first precompile', account('01', 1)],
    ['the last precompile', account('11', 1)],
  ])('L-57: %s is a bad owner', (_what, owner) => {
    expect(parsesOf(directCall(transferCall(named(owner))))).toEqual(['bad_owner'])
  })

  test('the account after the last precompile is none of them', () => {
    expect(parsesOf(directCall(transferCall(named(account('12', 1)))))).toEqual([`ok ${account('12', 1)}`])
  })
})

describe('row 9: transferFrom', () => {
  const from = account('55')
  const facts = (tail: string) => ({ ...directCall(transferFromCall(from, tail)), logs: [logOf({ from })] })

  test('credits the named account', () => {
    expect(parsesOf(facts(named(account('33'))))).toEqual([`ok ${account('33')}`])
  })

  test('has two senders when the tail names nobody', () => {
    expect(parsesOf(facts(named(zero)))).toEqual(['ambiguous_sender'])
  })

  test.each([
    ['no tail', '', 'no_tail'],
    ['half a tail', named(account('33')).slice(2), 'bad_tail'],
    ['bytes after the tail', `${named(account('33'))}00`, `ok_trailing ${account('33')}`],
  ])('with %s is judged as a transfer is', (_what, tail, parse) => {
    expect(parsesOf(facts(tail))).toEqual([parse])
  })
})

describe('row 10: transfers made by another contract', () => {
  const wallet = account('77')
  const nested = transferCall(named(account('33')))
  const outer: Hex = `0xb61d27f6${word(token)}${nested.slice(2)}`
  const indirect: TopUpFacts = {
    succeeded: true,
    from: sender,
    to: wallet,
    input: outer,
    logs: [logOf({ from: wallet })],
  }
  const inner = frame({ from: wallet, to: token, input: nested })
  const trace = frame({ from: sender, to: wallet, input: outer, calls: [inner] })

  test('L-57: are suspended without a trace: nested bytes credit nobody', () => {
    expect(needsTrace(indirect, target)).toBe(true)
    expect(parsesOf(indirect)).toEqual(['indirect'])
    expect(parsesOf({ ...indirect, to: undefined })).toEqual(['indirect'])
  })

  test('credit the account that their own call names', () => {
    expect(parsesOf({ ...indirect, trace })).toEqual([`ok ${account('33')}`])
  })

  test('credit the contract that called the token when the tail names nobody', () => {
    const input = transferCall(named(zero))
    const trace = frame({ from: sender, to: wallet, input: outer, calls: [frame({ ...inner, input })] })
    expect(parsesOf({ ...indirect, trace })).toEqual([`ok ${wallet}`])
  })

  test('are found through delegated calls and behind a proxied token', () => {
    const implementation = frame({ type: 'DELEGATECALL', from: token, to: account('99'), input: nested })
    const module = frame({
      type: 'DELEGATECALL',
      from: wallet,
      to: account('88'),
      input: '0x1234',
      calls: [{ ...inner, calls: [implementation] }],
    })
    const trace = frame({ from: sender, to: wallet, input: outer, calls: [module] })
    expect(parsesOf({ ...indirect, trace })).toEqual([`ok ${account('33')}`])
  })

  test.each<[string, CallFrame]>([
    ['has no call to the token', { ...trace, calls: [] }],
    ['has one call too many', { ...trace, calls: [inner, inner] }],
    ['has the call in a reverted part', { ...trace, calls: [{ ...trace, isReverted: true }] }],
    ['has the call reverted', { ...trace, calls: [{ ...inner, isReverted: true }] }],
    ['has a delegated call only', { ...trace, calls: [{ ...inner, type: 'DELEGATECALL' }] }],
    [
      'moves another amount',
      { ...trace, calls: [{ ...inner, input: transferCall(named(zero), { value: 1n }) }] },
    ],
    ['is of another caller', { ...trace, calls: [{ ...inner, from: account('66') }] }],
    ['is of another transaction', { ...trace, input: '0x' }],
    ['is of another sender', { ...trace, from: account('66') }],
    ['is of a call of another contract', { ...trace, to: account('66') }],
    ['has the call to another token', { ...trace, calls: [{ ...inner, to: account('66') }] }],
  ])('are suspended when the trace %s', (_what, trace) => {
    expect(parsesOf({ ...indirect, trace })).toEqual(['trace_mismatch'])
  })
})

describe('row 11: several transfers in one transaction', () => {
  const other = account('77')
  const logs = [logOf({}), logOf({ ordinal: 3, from: other })]

  test('a tail labels one transfer, the first that its call explains', () => {
    const facts = { ...directCall(transferCall(named(account('33')))), logs }
    expect(needsTrace(facts, target)).toBe(true)
    expect(parsesOf(facts)).toEqual([`ok ${account('33')}`, 'indirect'])
    const swapped = { ...facts, logs: logs.toReversed() }
    expect(parsesOf(swapped)).toEqual(['indirect', `ok ${account('33')}`])
  })

  test('two equal transfers do not share one tail', () => {
    const facts = {
      ...directCall(transferCall(named(account('33')))),
      logs: [logOf({}), logOf({ ordinal: 1 })],
    }
    expect(parsesOf(facts)).toEqual([`ok ${account('33')}`, 'indirect'])
  })

  test('with a trace each is judged by its own call', () => {
    const input: Hex = '0xac9650d8'
    const call = (tail: string) => frame({ from: other, to: token, input: transferCall(tail) })
    const logs = ['', named(account('33')), named(account('44')), 'ff'].map((_, ordinal) =>
      logOf({ ordinal, from: other }),
    )
    const calls = [call(''), call(named(account('33'))), call(named(account('44'))), call('ff')]
    const facts: TopUpFacts = {
      succeeded: true,
      from: sender,
      to: other,
      input,
      logs,
      trace: frame({ from: sender, to: other, input, calls }),
    }
    expect(parsesOf(facts)).toEqual(['no_tail', `ok ${account('33')}`, `ok ${account('44')}`, 'bad_tail'])
  })

  test('one that moves nothing keeps its place among the calls', () => {
    const input: Hex = '0xac9650d8'
    const call = (tail: string, value: bigint) =>
      frame({ from: other, to: token, input: transferCall(tail, { value }) })
    const facts: TopUpFacts = {
      succeeded: true,
      from: sender,
      to: other,
      input,
      logs: [logOf({ from: other, value: 0n }), logOf({ ordinal: 1, from: other })],
      trace: frame({
        from: sender,
        to: other,
        input,
        calls: [call(named(account('66')), 0n), call(named(account('33')), amount)],
      }),
    }
    expect(parsesOf(facts)).toEqual([`ok ${account('33')}`])
  })
})

describe('an account of the operator that other money comes to as well', () => {
  const treasury = account('77')
  const solver: TopUpTarget = { ...target, isTaggedOnly: true, ownAccounts: [custody, treasury] }
  const hidden = `${marker}${'33'.repeat(20)}`

  test('is topped up by whoever names a sponsor', () => {
    expect(parsesOf(directCall(transferCall(named(account('33')))), solver)).toEqual([`ok ${account('33')}`])
  })

  test.each([
    ['half a tail', directCall(transferCall(hidden)), 'bad_tail'],
    ['a precompile as sponsor', directCall(transferCall(named(account('01', 1)))), 'bad_owner'],
    ['an account of the operator as sponsor', directCall(transferCall(named(treasury))), 'bad_owner'],
    [
      'a tail inside the call of another contract',
      { ...directCall(`0xabcdef01${hidden}`), to: account('99') },
      'indirect',
    ],
  ])('L-56: holds what meant to name one in suspense: %s', (_name, facts, parse) => {
    expect(parsesOf(facts, solver)).toEqual([parse])
  })

  test.each([
    ['a payment of anybody', directCall(transferCall(''))],
    ['a payment with an order id behind it', directCall(transferCall('5a'.repeat(32)))],
    ['a withdrawal that a contract pays', { ...directCall('0xabcdef01'), to: account('99') }],
    [
      'what its own fill pays back to it, whatever calldata its order brought',
      { ...directCall(`0xabcdef01${named(account('33'))}`), from: custody, to: account('99') },
    ],
    [
      'what another account of the operator sends without naming anybody',
      { ...directCall(transferCall(hidden)), from: treasury, logs: [logOf({ from: treasury })] },
    ],
  ])('L-56: owes nobody anything for %s', (_name, facts) => {
    expect(parsesOf(facts, solver)).toEqual([])
  })

  test('moves what it was paid to custody without becoming a creditor of it', () => {
    const moved = { ...directCall(transferCall('')), from: treasury, logs: [logOf({ from: treasury })] }
    expect(parsesOf(moved, { ...target, ownAccounts: [custody, treasury] })).toEqual([])
    expect(parsesOf(moved, target)).toEqual(['no_tail'])
  })
})
