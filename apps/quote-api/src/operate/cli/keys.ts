import type { IssuedKey, ListedKey } from '../../access/keys/keyAdministration.ts'
import { keyIdText, keyLabelText, keyOverlapSeconds } from '../../access/keys/keyFields.ts'
import type { Command } from './command.ts'
import { readDuration, readValue } from './readValue.ts'
import { tableOf } from './tableOf.ts'

export const keyCommands: readonly Command[] = [
  {
    words: 'keys create',
    changes: true,
    about: 'Create an API key; its text is shown this once',
    flags: { label: { value: '<text>', about: 'Whose key it is', isRequired: true } },
    async run({ administration, actor }, args) {
      const label = readValue(keyLabelText, args.text('label'), '--label')
      const issued = await administration.keys.create({ actor, label })
      return { data: issued, lines: linesOf(issued) }
    },
  },
  {
    words: 'keys rotate',
    changes: true,
    about: 'Give a key a new text; the one before works for a while',
    operands: ['id'],
    flags: {
      overlap: { value: '<time>', about: 'How long, e.g. 12h; default 7d, at most 90d, 0 ends it now' },
    },
    async run({ administration, actor }, args) {
      const id = readValue(keyIdText, args.operand('id'), '<id>')
      const overlap = args.text('overlap')
      const seconds = overlap === undefined ? undefined : readDuration(overlap, '--overlap')
      const overlapSeconds = readValue(keyOverlapSeconds, seconds, '--overlap')
      const rotated = await administration.keys.rotate({ actor, id, overlapSeconds })
      const until = rotated.previousWorkUntil.toISOString()
      return { data: rotated, lines: [...linesOf(rotated), `The text before works until ${until}.`] }
    },
  },
  {
    words: 'keys revoke',
    changes: true,
    about: 'End a key for good; every process refuses it within 5 seconds',
    operands: ['id'],
    async run({ administration, actor }, args) {
      const id = readValue(keyIdText, args.operand('id'), '<id>')
      await administration.keys.revoke({ actor, id })
      return { data: { id, status: 'revoked' }, lines: [`Key ${id} is revoked.`] }
    },
  },
  {
    words: 'keys list',
    about: 'List all keys, never their texts',
    async run({ administration }) {
      const keys = await administration.keys.list()
      return { data: { keys }, lines: keys.length === 0 ? ['There are no keys.'] : tableOf(keys.map(rowOf)) }
    },
  },
]

function linesOf({ id, label, apiKey }: IssuedKey): readonly string[] {
  return [`id:    ${id}`, `label: ${label}`, `key:   ${apiKey}`, 'Keep the key: it is stored as a hash only.']
}

function rowOf(key: ListedKey): Readonly<Record<string, string>> {
  return {
    id: key.id,
    label: key.label,
    status: key.status,
    wallet: key.wallet ?? '-',
    secrets: key.secrets.length.toString(),
    created: key.createdAt.toISOString(),
  }
}
