import { takeCommandLine } from '@causeway/cli'
import { chainsFileSchema, hubFileSchema } from '@causeway/core/config'
import { describe, expect, test } from 'vitest'
import { responseExamples } from '../../apps/oracle/src/wire/responseExamples.ts'
import { ethereumDeposit, hubDomain } from '../../packages/core/test/vectors/messages.ts'
import { describeVerdict, verifyFile } from './verifyFile.ts'
import { verifyForm, verifyOptions } from './verifyOptions.ts'

const oracle = '0x19e7e376e7c213b7e7e7e46cc70a5dd086daff2a'
const messageSignature =
  '0x2e639563ee00d7284978658449a3be56e95ab1622347b2ea19f959eddd6452463d957f72ecbd75a4b212ba6912050711eff0fb86650cd2806bc307df3e877c3b1c'
const signatures = [{ oracleSigner: oracle, signature: messageSignature }]
const response = { messages: [{ ...ethereumDeposit, extraData: { timestamp: '1700000000' }, signatures }] }

const hub = hubFileSchema.parse({
  environment: 'local',
  id: 'relay',
  evmChainId: hubDomain.chainId,
  oracleAddress: hubDomain.verifyingContract,
  oracleVersion: hubDomain.version,
  genericMappingAddress: `0x${'bb'.repeat(20)}`,
})
const chains = chainsFileSchema.parse({
  environment: 'local',
  chains: [
    { id: 'ethereum', vmType: 'ethereum-vm', depository: ethereumDeposit.result.depository, hubChainId: '1' },
  ],
})

const program = { name: 'tools', about: '', commands: [verifyForm] }
const parse = (argv: readonly string[]) =>
  verifyOptions(
    takeCommandLine([verifyForm.words, ...argv], program, ({ text }) => {
      throw new Error(text)
    }).args,
  )

function verify(argv: readonly string[], answered: unknown = response) {
  const options = parse(['--file', 'response.json', ...argv])
  return verifyFile({ options, response: answered, hub, chains })
}

test('counts the published signature of the published message', () => {
  const verdict = verify(['--signers', oracle.toUpperCase().replace('0X', '0x'), '--threshold', '1'])
  expect(verdict).toMatchObject({ isQuorum: true, signers: [oracle] })
  expect(describeVerdict(verdict)).toBe(
    `quorum: 1 of 1 required signers signed all of it\n  counted   ${oracle}`,
  )
})

test.each([
  ['a recovery', responseExamples.recovery],
  ["a solver's promise", responseExamples['no-fill-or-refund']],
])('finds by its form %s', (_what, answered) => {
  expect(verify(['--signers', oracle], answered)).toMatchObject({ isQuorum: true, signers: [oracle] })
})

test('says what is missing', () => {
  const other = `0x${'22'.repeat(20)}`
  expect(describeVerdict(verify(['--signers', other]))).toContain(`ignored   ${oracle} (not on the list)`)
  const forged = JSON.parse(JSON.stringify(response).replace('0x2e63', '0x2e64'))
  expect(describeVerdict(verify(['--signers', oracle], forged))).toContain('not proven in every array')
  expect(describeVerdict(verify(['--signers', oracle, '--kind', 'fills']))).toContain('unreadable at message')
  expect(describeVerdict(verify(['--signers', oracle], { messages: [] }))).toContain('nothing to sign')
  expect(describeVerdict(verify(['--signers', oracle], 7))).toMatch(/^NO quorum/)
})

describe('the command line', () => {
  test.each([
    [['--signers', oracle]],
    [['--file', 'f']],
    [['--file', 'f', '--signers', 'nobody']],
    [['--file', 'f', '--signers', oracle, '--threshold', '0']],
    [['--file', 'f', '--signers', oracle, '--kind', 'gifts']],
    [['--file', 'f', '--signers', oracle, '--unknown', 'x']],
    [['--file', 'f', '--signers']],
    [['file', 'f']],
  ])('%j is not of its form', (argv) => {
    expect(() => parse(argv)).toThrow(/^(error: |--)/)
  })
})
