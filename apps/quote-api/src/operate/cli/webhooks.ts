import { keyIdText } from '../../access/keys/keyFields.ts'
import { webhookHeaders, webhookUrlText } from '../../webhooks/webhookFields.ts'
import type { Command } from './command.ts'
import { CommandError } from './commandError.ts'
import { readJson, readValue } from './readValue.ts'

const keepIt = 'Keep the secret: it is not shown again.'

export const webhookCommands: readonly Command[] = [
  {
    words: 'webhooks set',
    changes: true,
    about: 'Say where the messages of a key go; the secret of a new webhook is shown this once',
    operands: ['id'],
    flags: {
      url: { value: '<url>', about: 'HTTPS address of the receiver', isRequired: true },
      headers: { value: '<json>', about: 'Sent with each message, e.g. \'{"authorization":"Bearer …"}\'' },
      'headers-file': { value: '<path>', about: 'File that holds them' },
    },
    async run({ administration, actor, readFile }, args) {
      const apiKeyId = readValue(keyIdText, args.operand('id'), '<id>')
      const url = readValue(webhookUrlText, args.text('url'), '--url')
      const [text, file] = [args.text('headers'), args.text('headers-file')]
      if (text !== undefined && file !== undefined) {
        throw new CommandError('Give --headers or --headers-file, not both.')
      }
      const json = text ?? (file === undefined ? '{}' : await readFile(file))
      const headers = readValue(webhookHeaders, readJson(json, 'The headers'), '--headers')
      const set = await administration.webhooks.set({ actor, apiKeyId, url, headers })
      const lines = [`Messages of key ${apiKeyId} go to ${set.url}.`]
      return {
        data: set,
        lines: set.secret === undefined ? lines : [...lines, `secret: ${set.secret}`, keepIt],
      }
    },
  },
  {
    words: 'webhooks show',
    about: 'Show where the messages of a key go, and how many did not arrive',
    operands: ['id'],
    async run({ administration }, args) {
      const apiKeyId = readValue(keyIdText, args.operand('id'), '<id>')
      const webhook = await administration.webhooks.show(apiKeyId)
      const { url, headerNames, waiting, failed, problem = 'none' } = webhook
      return {
        data: webhook,
        lines: [
          `url:     ${url}`,
          `headers: ${headerNames.join(', ') || 'none'}`,
          `waiting: ${waiting}`,
          `failed:  ${failed}`,
          `problem: ${problem}`,
        ],
      }
    },
  },
  {
    words: 'webhooks rotate-secret',
    changes: true,
    about: 'Sign with a new secret from now on; it is shown this once',
    operands: ['id'],
    async run({ administration, actor }, args) {
      const apiKeyId = readValue(keyIdText, args.operand('id'), '<id>')
      const rotated = await administration.webhooks.rotateSecret({ actor, apiKeyId })
      return { data: rotated, lines: [`secret: ${rotated.secret}`, keepIt] }
    },
  },
  {
    words: 'webhooks replay',
    changes: true,
    about: 'Send again what was given up, under the same event ids',
    operands: ['id'],
    async run({ administration, actor }, args) {
      const apiKeyId = readValue(keyIdText, args.operand('id'), '<id>')
      const messages = await administration.webhooks.replay({ actor, apiKeyId })
      return { data: { id: apiKeyId, messages }, lines: [`${messages} messages are sent again.`] }
    },
  },
  {
    words: 'webhooks remove',
    changes: true,
    about: 'Send nothing more for a key; messages that wait are dropped',
    operands: ['id'],
    async run({ administration, actor }, args) {
      const apiKeyId = readValue(keyIdText, args.operand('id'), '<id>')
      await administration.webhooks.remove({ actor, apiKeyId })
      return { data: { id: apiKeyId, status: 'removed' }, lines: [`Key ${apiKeyId} has no webhook.`] }
    },
  },
]
