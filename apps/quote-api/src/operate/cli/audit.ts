import type { Command } from './command.ts'
import { integer, readDuration, readValue } from './readValue.ts'
import { tableOf } from './tableOf.ts'

const listedMax = 200

export const auditCommands: readonly Command[] = [
  {
    words: 'audit list',
    about: 'List who changed what and why, newest first, refused attempts among it',
    flags: {
      actor: { value: '<name>', about: 'Of one operator, e.g. admin or cli:alice' },
      action: { value: '<name>', about: 'Of one kind, e.g. requests.resolve' },
      subject: { value: '<id>', about: 'About one request, key, wallet or claim' },
      since: { value: '<time>', about: 'Of the last time only, e.g. 7d' },
      before: { value: '<id>', about: 'Go on behind this line' },
    },
    async run({ administration }, args) {
      const [since, before] = [args.text('since'), args.text('before')]
      const lines = await administration.audit.list({
        actor: args.text('actor'),
        action: args.text('action'),
        subject: args.text('subject'),
        since:
          since === undefined ? undefined : new Date(Date.now() - readDuration(since, '--since') * 1_000),
        before: before === undefined ? undefined : readValue(integer, before, '--before'),
        limit: listedMax,
      })
      const rows = lines.map(({ id, at, details, ...line }) => ({
        id: id.toString(),
        at: at.toISOString(),
        ...line,
        details: JSON.stringify(details),
      }))
      return { data: { lines }, lines: rows.length === 0 ? ['Nothing was changed.'] : tableOf(rows) }
    },
  },
]
