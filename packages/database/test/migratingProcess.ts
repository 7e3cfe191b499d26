// A process that migrates, to be killed: connection string and folder of a module are its words.
import { migrate } from '../src/index.ts'

const [connectionString = '', path = ''] = process.argv.slice(2)
await migrate({ connectionString, directories: [{ name: 'books', path }] })
