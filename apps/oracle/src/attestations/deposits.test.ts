// Vectors of ids, messages and executions (rules P-127, P-128 and P-130) through the route's own rules.
import { attestationKinds } from '@causeway/attestations'
import { depositMessageId, hubAlias, hubTokenId } from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import { describe, expect, test } from 'vitest'
import {
  depositExecution,
  ethereumDeposit,
  ethereumDepositId,
} from '../../../../packages/core/test/vectors/messages.ts'
import {
  blockTime,
  depositB,
  depositFacts,
  depositor,
  depositTransaction,
  nativeCurrency,
  ScriptedRefusal,
  usdc,
  world,
} from '../../test/fixtures/world.ts'
import type { DepositsRequest } from '../wire/requests.ts'
import type { AttestationContext } from './context.ts'
import { attestDeposits, canonicalDeposits } from './deposits.ts'

const options = { signal: new AbortController().signal }
const request = { chainId: 'ethereum', transactionId: depositTransaction }
const facts = depositFacts([depositB])
const worldOf = (found = facts) => world({ ethereum: { deposits: { [depositTransaction]: found } } })

/** As the service does it. */
async function attest(asked: DepositsRequest, context: AttestationContext) {
  return attestDeposits(canonicalDeposits(asked, context), context, options)
}

test('the deposit of order B has the published message and the published execution', async () => {
  const { unsigned, isFinal, evidence } = await attest(request, worldOf())
  const [message] = unsigned.messages
  expect(message).toEqual({
    ...ethereumDeposit,
    extraData: { timestamp: blockTime.toString() },
    signatures: [],
  })
  expect(unsigned.execution).toMatchObject({ ...depositExecution, signatures: [] })
  expect(depositMessageId(ethereumDeposit, worldOf().networkOf)).toBe(ethereumDepositId)
  expect({ isFinal, evidence }).toEqual({ isFinal: true, evidence: [facts.evidence] })
})

test('metadata tell the token and its origin for every action', async () => {
  const { unsigned } = await attest(request, worldOf())
  expect(unsigned.execution?.metadata).toEqual([
    {
      hubTokenId: '75768216729734233842356022798368373679005098618301361336704166989654078618295',
      origin: { address: nativeCurrency, chainId: 'ethereum', family: 'ethereum-vm' },
      oracleChainId: '537713',
      oracleContract: '0x795f9464ee05a34fe1e18925ca4e4753dcd60058',
    },
  ])
})

test('a deposit without an order is minted to the alias of its depositor', async () => {
  const unnamed = depositFacts([{ ...depositB, depositId: `0x${'00'.repeat(32)}` }])
  const { unsigned } = await attest(request, worldOf(unnamed))
  const alias = hubAlias({ chainId: 'ethereum', ...mainNetwork('ethereum-vm') }, depositor)
  expect(alias).toBe('0x655a50c47473d8fd8f2a129996f0062c287ac97d')
  expect(unsigned.execution?.actions[0]?.slice(2 + 64 + 24, 2 + 128)).toBe(alias.slice(2))
})

test('several deposits of one transaction keep their order and share one key', async () => {
  const second = { ...depositB, onchainIndex: '9', currency: usdc, amount: 5n }
  const { unsigned } = await attest(request, worldOf(depositFacts([second, depositB])))
  expect(unsigned.messages.map(({ result }) => result.currency)).toEqual([usdc, nativeCurrency])
  expect(unsigned.execution?.actions).toHaveLength(2)
  expect(unsigned.execution?.idempotencyKey).toBe(depositExecution.idempotencyKey)
  const [token] = unsigned.execution?.metadata ?? []
  expect(token?.hubTokenId).toBe(
    hubTokenId({ chainId: 'ethereum', ...mainNetwork('ethereum-vm') }, usdc).toString(),
  )
})

test('a final transaction without deposits has an empty answer and nothing to sign', async () => {
  const { unsigned } = await attest(request, worldOf(depositFacts([])))
  expect(unsigned).toEqual({ messages: [] })
  const context = { hub: worldOf().hub, networkOf: worldOf().networkOf }
  expect(attestationKinds.deposits.signatureArrays(unsigned, context)).toEqual([])
})

test('every spelling of a transaction id gives the same answer, in the canonical spelling', async () => {
  const upper = { ...request, transactionId: `0x${'AA'.repeat(32)}` }
  const one = await attest(request, worldOf())
  expect(await attest(upper, worldOf())).toEqual(one)
  expect(one.unsigned.messages[0]?.data.transactionId).toBe(depositTransaction)
})

describe('nothing is asked for', () => {
  test.each([
    ['a transaction id without 0x', { ...request, transactionId: 'aa'.repeat(32) }, 'INVALID_TRANSACTION_ID'],
    ['a transaction id that is no hex', { ...request, transactionId: 'nonsense' }, 'INVALID_TRANSACTION_ID'],
    ['an unknown chain', { ...request, chainId: 'moon' }, 'UNKNOWN_CHAIN'],
    ['a chain named like a member of every object', { ...request, chainId: 'constructor' }, 'UNKNOWN_CHAIN'],
    ['a chain without endpoint', { ...request, chainId: 'silent' }, 'CHAIN_UNAVAILABLE'],
  ])('%s', async (_what, wrong, code) => {
    const asked = worldOf()
    await expect(attest(wrong, asked)).rejects.toMatchObject({ code })
    expect(asked.asked).toEqual([])
  })
})

test('a refusal of the reader is passed on', async () => {
  await expect(attest(request, world({ ethereum: {} }))).rejects.toThrow(ScriptedRefusal)
})
