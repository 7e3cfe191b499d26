import { previewRetention, type RetentionSettings } from '../../requests/retention/removableRequests.ts'
import type { Command } from './command.ts'
import { tableOf } from './tableOf.ts'

export const retentionCommands: readonly Command[] = [
  {
    words: 'retention show',
    about: 'Show which stored quotes and requests would be deleted by their age; deletes nothing',
    async run({ database, retention }) {
      const preview = await previewRetention(database, retention)
      const rows = preview.map(({ what, removable, open, oldest }) => ({
        what,
        deleted: removable.toString(),
        'kept, still open': open.toString(),
        oldest: oldest?.toISOString() ?? '-',
      }))
      const lines = rows.length === 0 ? ['Nothing is old enough.'] : tableOf(rows)
      return { data: { settings: retention, preview }, lines: [settingsLine(retention), ...lines] }
    },
  },
]

function settingsLine({ quotesDays, requestsDays }: RetentionSettings): string {
  const after = (days: number | undefined) => (days === undefined ? 'never' : `after ${days} days`)
  return `Quotes that nobody paid are deleted ${after(quotesDays)}, requests that ended ${after(requestsDays)}.`
}
