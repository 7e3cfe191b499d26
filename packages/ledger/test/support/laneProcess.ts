// Works off what each line of its input asks of one database, and answers with a line of counts. Several run at
// once for all tests of a file: to start one takes longer than most of what it is asked.
import { createInterface } from 'node:readline'
import { createDatabase } from '@causeway/database'
import { patience } from './ledgerBed.ts'
import { type Reservations, reserveShare } from './reserving.ts'
import { raceForEnds } from './resolving.ts'

export type LaneTask =
  | ({ readonly do: 'reserve' } & Reservations)
  | { readonly do: 'race'; readonly count: number }

const [connectionString = ''] = process.argv.slice(2)
// Patient: a busy machine is no reason to fail.
const database = createDatabase({ connectionString, poolSize: 4, ...patience })

for await (const line of createInterface({ input: process.stdin })) {
  const task: LaneTask = JSON.parse(line)
  const counts =
    task.do === 'race' ? await raceForEnds(database, task.count) : await reserveShare(database, task)
  process.stdout.write(`${JSON.stringify(counts)}\n`)
}
await database.close()
