import { type SponsoredComponent, sponsoredComponents } from '@causeway/core'
import { z } from 'zod'
import { keyIdText } from '../../access/keys/keyFields.ts'
import { amountsAsText, type Command } from './command.ts'
import { CommandError } from './commandError.ts'
import { readJson, readUsd, readValue } from './readValue.ts'
import { tableOf } from './tableOf.ts'

const chainId = z.coerce.number().int().positive()
const user = z.string().min(1).max(128)
const components = z.array(z.enum(sponsoredComponents)).min(1)

export const policyCommands: readonly Command[] = [
  {
    words: 'policies set',
    changes: true,
    about: 'Say what a key may sponsor; replaces the rules before',
    operands: ['id'],
    flags: {
      rules: { value: '<json>', about: 'Rules, e.g. \'{"maxPerRequest":"250000"}\' (micro-USDC)' },
      file: { value: '<path>', about: 'File that holds them' },
    },
    async run({ administration, actor, readFile }, args) {
      const apiKeyId = readValue(keyIdText, args.operand('id'), '<id>')
      const [text, file] = [args.text('rules'), args.text('file')]
      if ((text === undefined) === (file === undefined)) throw new CommandError('Give --rules or --file.')
      const rules = readJson(text ?? (await readFile(file ?? '')), 'The rules')
      const version = await administration.policies.set({ actor, apiKeyId, rules })
      return {
        data: { id: apiKeyId, version },
        lines: [`Version ${version} of the policy of key ${apiKeyId} decides from now on.`],
      }
    },
  },
  {
    words: 'policies show',
    about: 'Show the rules of a key and what it has used',
    operands: ['id'],
    async run({ administration }, args) {
      const apiKeyId = readValue(keyIdText, args.operand('id'), '<id>')
      const { policy, usage } = await administration.policies.show(apiKeyId)
      if (policy === undefined) {
        return {
          data: { policy: null, usage },
          lines: [`Key ${apiKeyId} has no policy: it may sponsor everything.`],
        }
      }
      const rows = usage.map(({ user, day, usedMicroUsd, count }) => ({
        user: user ?? 'all',
        day: day?.toISOString().slice(0, 10) ?? 'ever',
        usedMicroUsd: usedMicroUsd.toString(),
        count: count.toString(),
      }))
      const lines = [
        `version ${policy.version} by ${policy.actor}, ${policy.createdAt.toISOString()}`,
        JSON.stringify(policy.rules, amountsAsText, 2),
        ...(rows.length === 0 ? ['Nothing was sponsored under it.'] : tableOf(rows)),
      ]
      return { data: { policy, usage }, lines }
    },
  },
  {
    words: 'policies remove',
    changes: true,
    about: 'Let a key sponsor everything again',
    operands: ['id'],
    async run({ administration, actor }, args) {
      const apiKeyId = readValue(keyIdText, args.operand('id'), '<id>')
      const version = await administration.policies.remove({ actor, apiKeyId })
      return {
        data: { id: apiKeyId, version },
        lines: [`No rule restricts key ${apiKeyId} any more (version ${version}).`],
      }
    },
  },
  {
    words: 'policies explain',
    about: 'Try a request against the rules, the caps and the balance; changes nothing',
    operands: ['id'],
    flags: {
      user: { value: '<address>', about: 'Who deposits', isRequired: true },
      recipient: { value: '<address>', about: 'Who receives; default: the user' },
      from: { value: '<chain id>', about: 'Origin chain', isRequired: true },
      to: { value: '<chain id>', about: 'Destination chain', isRequired: true },
      usd: { value: '<amount>', about: 'What the sponsor would pay, e.g. 0.05', isRequired: true },
      components: { value: '<names>', about: `Of ${sponsoredComponents.join(',')}; default: all` },
    },
    async run({ administration }, args) {
      const apiKeyId = readValue(keyIdText, args.operand('id'), '<id>')
      const payer = readValue(user, args.text('user'), '--user')
      const { outcome, checks, policyVersion } = await administration.policies.explain({
        apiKeyId,
        user: payer,
        recipient: readValue(user, args.text('recipient') ?? payer, '--recipient'),
        originChainId: readValue(chainId, args.text('from'), '--from'),
        destinationChainId: readValue(chainId, args.text('to'), '--to'),
        amountMicroUsd: readUsd(args.text('usd') ?? '', '--usd'),
        components: readComponents(args.text('components')),
      })
      const rows = checks.map(({ rule, passed, ...figures }) => ({
        rule,
        passed: passed ? 'yes' : 'NO',
        figures: JSON.stringify(figures, amountsAsText),
      }))
      return {
        data: { outcome, policyVersion, checks },
        lines: [`This request would be: ${outcome}`, ...(rows.length === 0 ? [] : tableOf(rows))],
      }
    },
  },
]

function readComponents(text: string | undefined): readonly SponsoredComponent[] {
  return text === undefined ? sponsoredComponents : readValue(components, text.split(','), '--components')
}
