// Counts answers of a key and stores them; says when it begins and when it is done.
import { randomUUID } from 'node:crypto'
import { createDatabase } from '@causeway/database'
import { createUsageRecorder } from '../../src/access/usage/usageRecorder.ts'

const [connectionString = '', keyId = '', answers = '0'] = process.argv.slice(2)
const say = (line: string) => void process.stdout.write(`${line}\n`)
const database = createDatabase({ connectionString, poolSize: 1 })
const recorder = createUsageRecorder({
  database,
  writer: randomUUID(),
  now: () => Date.now(),
  onFailure: (error) => say(`failed ${error}`),
  onLost: (lost) => say(`lost ${lost}`),
})
for (let count = 0; count < Number(answers); count += 1)
  recorder.count({ keyId, route: '/chains', statusCode: 200, errorCode: undefined })
say('counted')
if (await recorder.flush()) say('stored')
await database.close()
