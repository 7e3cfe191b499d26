// Owns an embedded database until it is killed: `databaseOwner.ts <data directory>`. Prints its process id.
import { startEmbeddedPostgres } from '@causeway/database'

const [dataDirectory] = process.argv.slice(2)
if (dataDirectory === undefined) throw new Error('which directory?')
const { pid } = await startEmbeddedPostgres({ dataDirectory })
console.log(pid)
setInterval(() => {}, 60_000)
