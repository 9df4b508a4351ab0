package command

import (
	"slices"
	"strings"
)

// AccessTable says which files commands reach. A line has the names of
// commands, a bar, what they do with plain arguments, and their options:
//
//   - not a file          v  visited (listed, looked at, gone to)
//     r       read                w  written: made, changed, moved or removed
//     rw      both                W  written, or written into if it is a folder
//     u       an address, read if it is a file://; U and saved under its own name; o written
//     m       read if there is such a file; M written if there is
//     x*      all arguments from here on, but for those after it in the list
//     -o=r    an option with a value, and what the value is; also d for a folder
//     that the command goes to, T for a folder the arguments end up in, @
//     for a text that may name a file as @file, l for a file with the names
//     of files that are read, L written, B both, E for a folder that it may go to,
//     F for one that it writes into, s for a name=file, S written, i x X g t n A D p P for which files of
//     folders are meant, K for a file with settings, h for options of another program, a for one
//     whose file is behind a =, and two letters for an option with two values
//     -o=r!L  … and plain arguments are as in the list L instead
//     -o=r*   … whose values are all words up to the next option
//     -o?r    … whose value can only stand in the same word; b for the suffix
//     of a backup: arguments marked with a star are read and written
//     -o=r;L  … and the plain arguments after it are as in the list L
//     -o:rw   a flag: arguments marked with a star are used so
//     -o:!L   a flag: plain arguments are as in the list L instead
//     -o:deep a flag: everything below a folder is reached too; deep: always
//     -o:all  a flag: arguments marked with a star are read, with everything below
//     -o:+r   a flag: it reads files that its input names
//     -o:index, -o:tree flags of git: without the second, the first leaves files alone
//     -o:soft a flag: it makes links to arguments marked with a star
//     -o:test, -o:pack flags: arguments marked with a star are only read, and are not; the last one counts
//     -o:lift a flag: which files of folders are meant is not as it seems
//     -o:flat a flag: W is no folder to put something into
//     -o:parents a flag: names end up in W with the folders in them
//     -o:@r   a flag: it reads the folder it runs in
//     -o:force a flag of git: it changes all files, unless some are named
//     @v      with no file named, the folder it runs in is visited; @r read, @F written into
//     +w      it writes in the folder it runs in, under names it does not say
//     resp    an argument such as @file stands for what is in the file
//     glue    of whole: a value may also stand right behind an option of one letter
//     page    an argument is a file if there is one, or an address
//     stop    options end at the first plain argument
//     whole   options of several letters begin with one dash
//     vars    arguments such as a=b are no files
//     loose   the value of --option=x is a file if there is one, whatever the option
//     remote  arguments such as host:file are no files here
//     fresh   of folders only files that git does not know yet; bold: all
//     shy     names with a dot in front are left out of folders
const AccessTable = `
cat tac rev bat batcat zcat gzcat bzcat xzcat zstdcat lzcat most hd ldd hexyl glow mdcat ul colcrt diffstat gron uuencode uudecode wdiff rich pygmentize highlight source-highlight ccat lolcat xclip qrencode base58 base62 ascii85 mimencode crc32 rhash xxhsum b3sum hashdeep jacksum csvlook csvcut gist pastebinit wgetpaste zipinfo bunzip mcview jless fx debconf-set-selections lessfile lesspipe md5sum sha1sum sha224sum sha256sum sha384sum sha512sum sum zcmp bzcmp xzcmp zdiff bzdiff xzdiff tsort | r*
nl | r* -b=- -d=- -f=- -h=- -i=- -l=- -n=- -s=- -v=- -w=-
head | r* -n=- -c=- --lines=- --bytes=-
tail | r* -n=- -c=- -s=- --lines=- --bytes=- --pid=- --sleep-interval=- --max-unchanged-stats=-
less zless bzless xzless zstdless lzless pager sensible-pager | r* -p=- -P=- -o=w -O=w -k=r -j=- -x=- -z=- --log-file=w --LOG-FILE=w --lesskey-file=r
more zmore bzmore xzmore lzmore pg | r* -n=- --lines=-
wc | r* --files0-from=l
date | -* -f=r -r=v -d=- -s=- --file=r --reference=v --date=- --set=-
cksum b2sum shasum md5 | r* -a=- -l=- --algorithm=- --length=-
base64 base32 basenc | r* -w=- -b=- -i=r -o=w --wrap=- --input=r --output=w
xxd | r,w whole glue -s=- -seek=- -skip=- -l=- -len=- -c=- -cols=- -g=- -groupsize=- -o=- -offset=- -n=- -name=- -R=- -r -p -ps -plain -postscript -i -include -u -U -b -bits -e -E -a -autoskip -C -capitalize -d -h -v
od | r* -A=- -j=- -N=- -t=- -S=- --address-radix=- --skip-bytes=- --read-bytes=- --format=-
hexdump | r* -n=- -s=- -e=- -f=r
strings | r* resp -n=- -t=- -e=- -T=- --bytes=- --radix=- --encoding=-
nm objdump readelf size | r* resp
addr2line c++filt | -* resp -e=r --exe=r
ar gcc-ar llvm-ar | -,rw,r* resp --plugin=r --target=- --output=F
ranlib | rw* resp
strip | rw* resp -o=w -F=- -I=- -O=- -K=- -N=- -R=-
objcopy | rw,w resp -I=- -O=- -B=- -F=- -j=- -R=- -K=- -N=- -L=- -G=- -W=- --input-target=- --output-target=- --target=- --binary-architecture=- --only-section=- --remove-section=- --add-section=s --update-section=s --dump-section=S --add-gnu-debuglink=r -S -g -p -v -w -D -U -x -X -M --strip-all --strip-debug --strip-unneeded --only-keep-debug --compress-debug-sections --decompress-debug-sections --preserve-dates
as gas | r* resp -a?a -o=w -I=v --MD=w
ld ld.bfd ld.gold ld.lld gold lld mold | r* whole glue resp -o=w --output=w -T=r --script=r -L=v -l=- -Map=w --Map=w -R=r -m=- -e=- -z=- -rpath=- -soname=- -dynamic-linker=- -dependency-file=w
tic captoinfo infotocap | r* -o=F -e=- -Q=-
groff nroff troff tbl eqn pic grn soelim refer preconv mandoc | r* -m=- -T=- -F=v -I=v -M=v -d=- -r=- -o=- -w=- -W=- -K=- -O=-
man | m* -l:!r* --local-file:!r* -C=r -L=- -m=- -M=v -S=- -s=- -e=- -E=- -R=- -p=- -r=- -P=- --config-file=r --manpath=v --pager=- --sections=- --locale=- --extension=-
history | -* -a:!w -w:!w -r:!r -n:!r -d=- -p:! -s:!
m4 | r* -D=- -I=v -U=- -F=w -R=r -o=w --freeze-state=w --reload-state=r
logger | -* -f=r -t=- -p=- -u=v -n=- -P=- -S=- --file=r --tag=- --priority=-
sd rpl | -,-,rw* -f=- -n=-
crudini | rw,-*
hexedit bvi | rw*
xmlstarlet | -,m* -L:rw --inplace:rw
xmllint xsltproc tidy | r* -m:rw -o=w --output=w --schema=r --xpath=- --pattern=-
lynx w3m links links2 elinks | u* page -o=- -T=- -I=- -O=- -cols=-
pv | r* -L=- -s=- -i=- -N=- -B=- -F=-
cpio | -F=rw -I=r -O=w -E=r -D=d -o:+r --create:+r -i:+w --extract:+w -p:+w --pass-through:+w --file=rw --directory=d
cut | r* -b=- -c=- -d=- -f=- --bytes=- --characters=- --delimiter=- --fields=- --output-delimiter=-
paste | r* -d=- --delimiters=-
pr | r* -h=- -l=- -o=- -w=- -W=- -N=- -D=- --header=- --length=- --indent=- --width=- --page-width=- --date-format=- --first-line-number=-
fold | r* -w=- --width=-
fmt | r* -w=- -p=- -g=- --width=- --prefix=- --goal=-
expand unexpand | r* -t=- --tabs=-
column | r* -s=- -o=- -c=- -N=- -H=- -R=- --separator=- --output-separator=- --table --table-columns=-
sort | r* -o=w -k=- -t=- -S=- -T=w --output=w --key=- --field-separator=- --buffer-size=- --temporary-directory=w --parallel=- --batch-size=- --files0-from=l --random-source=r --compress-program=-
uniq | r,w -f=- -s=- -w=- --skip-fields=- --skip-chars=- --check-chars=- -c -d -D -i -u -z --count --repeated --all-repeated --group --ignore-case --unique --zero-terminated
shuf | r* -o=w -n=- -i=-! -e:! --echo:! --output=w --head-count=- --input-range=-! --random-source=r
comm | r* --output-delimiter=-
join | r* -t=- -1=- -2=- -j=- -o=- -e=- -a=- -v=-
ptx | r* -G:!r,w --traditional:!r,w -b=r -i=r -o=r --break-file=r --ignore-file=r --only-file=r -F=- -M=- -S=- -W=- -g=- -w=-
look | -,r -t=-
iconv | r* -o=w -f=- -t=- --output=w --from-code=- --to-code=-
dos2unix unix2dos rename rustfmt | rw*
diff colordiff | r* -I=- -x=- -X=r -U=- -C=- -L=- -W=- --output=w --exclude=- --exclude-from=r --label=- --width=- --from-file=r --to-file=r -r:deep --recursive:deep
sdiff | r* -o=w -I=- -w=- --output=w --width=-
diff3 | r* -L=- --label=-
cmp | r* -i=- -n=- --ignore-initial=- --bytes=-
grep egrep fgrep zgrep zegrep zfgrep bzgrep bzegrep bzfgrep xzgrep xzegrep xzfgrep lzgrep lzegrep lzfgrep zstdgrep | -,r* -e=-!r* -f=r!r* -m=- -A=- -B=- -C=- -d=D -D=- --regexp=-!r* --file=r!r* --max-count=- --after-context=- --before-context=- --context=- --include=i --exclude=x --exclude-dir=X --exclude-from=r --label=- --binary --binary-files=- --directories=D -r:deep -R:deep --recursive:deep --dereference-recursive:deep
rgrep | -,r* deep @r -e=-!r* -f=r!r* -m=- -A=- -B=- -C=- -d=D -D=- --regexp=-!r* --file=r!r* --max-count=- --after-context=- --before-context=- --context=- --include=i --exclude=x --exclude-dir=X --exclude-from=r --label=- --binary --binary-files=- --directories=D -r:deep -R:deep --recursive:deep --dereference-recursive:deep
rg | -,r* deep shy @r -e=-!r* -f=r!r* -g=g -t=t -T=- -A=- -B=- -C=- -m=- -M=- -d=- -E=- -r=- -j=- --regexp=-!r* --file=r!r* --glob=g --iglob=n --type=t --type-not=- --type-add=A --type-clear=- --after-context=- --before-context=- --context=- --max-count=- --max-columns=- --max-depth=- --maxdepth=- --max-filesize=- --encoding=- --replace=- --threads=- --sort=- --sortr=- --ignore --ignore-file=r --color=- --colors=- --column --engine=- --pre=- --pre-glob=- --hostname-bin=- --files:!v* --hidden:bold -.:bold -u:bold --unrestricted:bold --type-list:!
ag | -,r* deep shy @r -A=- -B=- -C=- -m=- -G=- -g=-!v* -p=r --ignore=- --path-to-ignore=r --depth=- --hidden:bold -u:bold
ack | -,r* deep shy @r -A=- -B=- -m=- -g:!v* -f:!v* -x:+r --ignore-dir=- --ignore-file=- --type=- --match=-!r* --files-from=l --ackrc=r
sed gsed | -,r* -e=-!r* -f=r!r* -l=- -i?b --in-place?b --expression=-!r* --file=r!r* --line-length=-
awk gawk mawk nawk | -,r* vars -f=r!r* -F=- -v=- -e=-!r* -E=r!r* -i=r -l=r --file=r!r* --field-separator=- --assign=- --source=-!r* --include=r --exec=r!r*
jq | -,r* -f=r!r* -L=v --from-file=r!r* --arg=-- --argjson=-- --slurpfile=-r --rawfile=-r --argfile=-r --indent=- --args;-* --jsonargs;-*
yq | -,r* -f=- -o=- -p=- -I=- -i:rw --inplace:rw --from-file=r!r*
tee sponge | w*
touch | w* -r=v -d=- -t=- --reference=v --date=- --time=-
truncate | w* -s=- -r=v --size=- --reference=v
mkdir rmdir unlink mkfifo | w* -m=- --mode=-
mknod | w,-* -m=- --mode=-
mktemp | w -p=F --tmpdir?F --suffix=- -t:! -d -q -u --directory --quiet --dry-run
logsave | w,-* stop -a -s -v
shred | w* -n=- -s=- --iterations=- --size=- --random-source=r
rm | w* -r:deep -R:deep --recursive:deep
chmod | -,w* -R:deep --recursive:deep --reference=v!w*
chattr | w* -R:deep -v=- -p=-
chown chgrp | -,w* -R:deep --recursive:deep --reference=v!w* --from=-
setfacl | w* -m=- -x=- -M=r -X=r -R:deep --restore=r
cp | r*,W -t=T -S=- -l:rw --link:rw -s:soft --symbolic-link:soft -T:flat --no-target-directory:flat --parents:parents --sparse=- --no-preserve=- -r:deep -R:deep -a:deep --recursive:deep --archive:deep --target-directory=T --suffix=-
mv | rw*,W deep -T:flat --no-target-directory:flat -t=T -S=- --target-directory=T --suffix=-
link | rw,w
install | r*,W -T:flat --no-target-directory:flat -t=T -m=- -o=- -g=- -S=- -d:!w* --directory:!w* --target-directory=T --mode=- --owner=- --group=- --suffix=-
rsync | r*,W deep remote -e=- -f=- -T=w -B=- -M=- --rsh=- --rsync-path=- --filter=- --exclude=- --include=- --exclude-from=r --include-from=r --files-from=l --log-file=w --backup-dir=w --partial-dir=w --temp-dir=w --link-dest=r --compare-dest=r --copy-dest=r --password-file=r --write-batch=w --read-batch=r --port=- --bwlimit=- --timeout=- --max-size=- --min-size=- --chmod=- --chown=- --suffix=- --partial --backup
scp | r*,W remote -i=r -F=r -P=- -o=- -l=- -c=- -S=- -J=- -r:deep
zip | w,r* -nw:lift --no-wild:lift -ws:lift -w:lift --wild-stop-dirs:lift -@:+r -r:deep --recurse-paths:deep -R:@r --recurse-patterns:@r -x=P* --exclude=P* -i=p* --include=p* -b=w --temp-path=w -P=- --password=- -O=w --output-file=w --out=w -m:rw --move:rw -t=- -tt=- --from-date=- --before-date=- -n=- --suffixes=- -s=- --split-size=- -TT=- --unzip-command=- -lf=w --logfile-path=w -la -li --log-append --log-info -ll -l -j -q -qq -v -u -f -d -g -e -D -y -T -z -c -o -X -A -J -k -F -FF -FS -U -Z=- -0 -1 -2 -3 -4 -5 -6 -7 -8 -9 --quiet --junk-paths --symlinks --update --freshen --delete --test --encrypt --no-dir-entries --no-extra --filesync --verbose
gzip gunzip | rw* -S=- -c:r -l:r -t:r -r:deep --stdout:r --to-stdout:r --list:r --test:r --recursive:deep --suffix=-
bzip2 bunzip2 compress uncompress | rw* -c:r -t:test -z:pack -d:pack -r:deep --stdout:r --test:test --compress:pack --decompress:pack
xz unxz lzma unlzma | rw* -c:r -l:test -t:test -z:pack -d:pack --compress:pack --decompress:pack --uncompress:pack -S=- -F=- -C=- -M=- -T=- --stdout:r --to-stdout:r --list:test --test:test --suffix=- --format=- --check=- --memlimit=- --threads=- --block-size=- --files?B --files0?B
zstd unzstd | rw* -o=w -D=r -c:r -l:test -t:test -z:pack -d:pack -r:deep --stdout:r --list:test --test:test --compress:pack --decompress:pack --uncompress:pack --output-dir-flat=F --output-dir-mirror=F --filelist=B --patch-from=r --trace=w
lz4 | rw* -c:r -t:test -z:pack -d:pack -r:deep --list:r --test:test --compress:pack --decompress:pack
ls dir vdir exa eza lsd | v* @v -I=- -w=- -T=- --ignore=- --hide=- --width=- --tabsize=- --block-size=-
tree | v* @v -o=w -L=- -P=- -I=- --filelimit=- --charset=- --sort=- --gitfile=r --infofile=r
du | v* @v -d=- -X=r -t=- --max-depth=- --exclude=- --exclude-from=r --files0-from=r --threshold=-
stat | v* -c=- --format=- --printf=-
df realpath readlink lsattr getfacl mountpoint | v*
file | v* -f=r -m=r -F=- -P=- --files-from=r --magic-file=r --separator=- --parameter=-
fd fdfind | -,v* @v -e=- -t=- -d=- -E=- -S=- -c=- -j=- -o=- --extension=- --type=- --max-depth=- --min-depth=- --exclude=- --size=- --owner=- --color=- --threads=- --search-path=v --base-directory=d --ignore-file=r -x:!stop -X:!stop --exec:!stop --exec-batch:!stop
source . | r stop
sh bash dash ash ksh mksh zsh rbash fish | r stop -c=-! -s:! -o=- -O=- --rcfile=r --init-file=r
python pypy ipython | r stop -c=-! -m=-!m* -W=- -X=-
perl ruby | r,-* stop -e=-!r* -E=-!r* -i?b -I=v -r=m -C=-
node nodejs tsx ts-node | r stop -e=-! -p=-! -pe=-! --eval=-! --print=-! -r=m --require=m --import=m --env-file=r
php | r stop -r=-! -f=r! -c=v -d=- -B=- -R=- -E=-
lua luajit Rscript julia tclsh guile groovy | r stop -e=-! -l=- --eval=-!
ed red | rw* -p=- --prompt=-
vi vim nvim view nano emacs pico micro | rw* -c=- -S=r -s=rw -u=r -i=- -T=- --cmd=-
ex | rw* -c=- -S=r -u=r -i=- -T=- --cmd=-
patch | rw,r +w -i=r -o=w -d=d -p=- -r=w -B=- -D=- -F=- -V=- -Y=- -z=- --input=r --output=w --directory=d --strip=- --reject-file=w -N -R -s -t -u -c -e -n -b -E -f -l -v -Z --dry-run --forward --reverse --silent --quiet --batch --force --backup --unified --verbose
split | r,w +w -l=- -b=- -n=- -a=- -C=- --lines=- --bytes=- --number=- --suffix-length=- --line-bytes=- --additional-suffix=- --filter=-
csplit | r +w -f=w -b=- -n=- --prefix=w --suffix-format=- --digits=-
curl | u* -o=w -T=r!o* -K=K -D=w -c=w -b=k -d=@ -F=@ -H=@ -E=r -w=@ -X=- -u=- -A=- -e=- -m=- -x=- -r=- -C=- -Q=- -U=- -y=- -Y=- -z=- -t=- -P=- -O:!U* --output=w --remote-name:!U* --remote-name-all:!U* --output-dir=F --upload-file=r!o* --config=K --dump-header=w --cookie-jar=w --cookie=k --data=@ --data-binary=@ --data-ascii=@ --data-urlencode=@ --data-raw=- --json=@ --form=@ --form-string=- --header=@ --write-out=@ --cert=r --cacert=r --capath=v --key=r --crlfile=r --netrc-file=r --trace=w --trace-ascii=w --stderr=w --libcurl=w --etag-save=w --etag-compare=r --hsts=w --alt-svc=w --unix-socket=v --request=- --user=- --user-agent=- --referer=- --max-time=- --connect-timeout=- --proxy=- --range=- --retry=- --retry-delay=- --resolve=- --limit-rate=- --url=u --proto-default=-!r* --proto=- --proto-redir=- --head --netrc --netrc-optional --crlf --form-escape --get --ssl --compressed
wget | U* -O=w!u* -o=w -a=w -i=r -P=d -e=- -U=- -t=- -T=- -A=- -R=- -D=- -l=- -Q=- -w=- --output-document=w!u* --output-file=w --append-output=w --input-file=r --directory-prefix=d --post-file=r --body-file=r --load-cookies=r --save-cookies=w --certificate=r --private-key=r --ca-certificate=r --post-data=- --header=- --user-agent=- --user=- --password=- --tries=- --timeout=- --spider:!u* --warc-file=w --warc-tempdir=F --warc-dedup=r --warc-header=- --rejected-log=w --hsts-file=w --crl-file=r
javac kotlinc scalac rustc nasm yasm ghc ocaml ocamlc ocamlopt swiftc | m* loose whole -o=w -d=F -L=v -cp=v -classpath=v --class-path=v -sourcepath=v --out-dir=F -h=F -s=F
java kotlin scala groovysh | m,-* loose whole -cp=v -classpath=v --class-path=v -p=v --module-path=v -jar=r!-*
zig deno bun swift crystal nim dotnet | m,m,-* loose --project=v
nox tox | m* loose -f=m -c=m
black isort | rw* loose --check:r --diff:r -c=- -l=- -t=-
pytest py.test mypy dmypy ruff flake8 pylint pyright bandit autopep8 yapf coverage | m* loose --fix:rw -i:rw --in-place:rw
eslint prettier tsc jest vitest mocha ava biome stylelint standard xo esbuild swc rollup webpack vite parcel depcheck | m* loose --write:rw --fix:rw -w:rw -p=v -c=r -o=w --project=v --config=r --outDir=F --outFile=w --output-file=w --rootDir=v --root=v --outfile=w --outdir=F
rspec rubocop standardrb phpunit phpstan golangci-lint shellcheck shfmt yamllint hadolint clang-format clang-tidy cppcheck | m* loose -i:rw -w:rw --write:rw -a:rw -A:rw --fix:rw
ansible-playbook ansible-lint protoc buf thrift flatc doxygen cookiecutter sphinx-build jekyll mkdocs hugo ctags etags cscope gcov lcov | m* loose -o=w -f=m -I=v -d=v -s=v -i=m
kubectl oc helm | -* -f=m --filename=m --values=u -k=v --kustomize=v --from-file=r --from-env-file=r --kubeconfig=r
terraform tofu | -* whole -chdir=v -var-file=r -state=rw -out=w
aws gsutil s3cmd | m* page
rclone | m*
gh glab | m* -D=F -F=m -f=- -o=F --body-file=r --notes-file=r --input=r --template=- --field=@ --raw-field=- --output=w --dir=F
ffmpeg | m*,w whole
ffprobe identify mogrify | m*
convert magick composite montage | m*,w
http https httpie xh xhs vault | m*
exiftool plutil open xdg-open code codium subl delta enscript lp lpr a2ps recode utmpdump loadkeys wipe srm shar makeself expect global lastlog iptables-restore ip6tables-restore openapi-generator bq | m* loose
mail mailx mutt neomutt | m* -a=r -A=r -i=r -s=- -c=- -b=-
pigz unpigz pbzip2 lbzip2 plzip lzip lzop brotli pixz | rw* -c:r -l:r -t:r --stdout:r --list:r --test:r -p=- -b=- -S=- -n=- -w=- -o=w --output=w
7z 7za 7zr 7zz | -,r* whole glue -o=F -p=- -m=- -t=- -x=- -i=- -w=F
unrar rar | -,r,w*
pax | m* -f=rw -s=- -b=- -x=-
fallocate | w* -l=- -o=- --length=- --offset=-
sync | m* -d -f
mmv | m*
infocmp | m* -A=v -B=v
redis-cli | -* --rdb=w --pipe=-
ssh-add | m* -s=- -S=- -e=- -t=- -T=r
ip tc nft | -* -f=m -b=m -batch=m --file=m
ldconfig modprobe | -* -f=m -r=v -C=m
last | -* -f=r --file=r
journalctl | -* -D=v --directory=v --file=r
dmesg | -* -F=r --file=r
perf | m* -i=r -o=w --input=r --output=w
valgrind | stop --log-file=w --xml-file=w --suppressions=r
gdb lldb | m* whole -x=r -iex=- -ex=- -cd=v -d=v -c=r -core=r
tmux | -* -f=r
screen | -* -c=r
at batch | -* -f=r -q=- -t=-
mount umount losetup | m*
hx joe ne mcedit kak jshell hurl tarcat | m*
ugrep ug rga ripgrep-all pcregrep pcre2grep agrep sift pt | -,m* -e=-!m* -f=r!m*
mlr xsv qsv dasel xq tomlq taplo dyff difft icdiff meld kdiff3 bsdiff xdelta3 rdiff zsync par2 croc wormhole ffsend magic-wormhole b2 azcopy az restic borg rdiff-backup duplicity swaks dialog whiptail genisoimage mkisofs mksquashfs packer caddy miniserve darkhttpd serve http-server httpd wall | m* loose
aria2c | m* -i=r -d=F -o=w --input-file=r --dir=F
dig host nmap fping ss arp say espeak ssh-keyscan | -* -f=r -F=r -iL=r
just | -f=r -d=v --justfile=r --working-directory=v
task go-task | -d=v -t=r --dir=v --taskfile=r
mage | -d=v -w=v
rake | -f=r --rakefile=r
gradle gradlew | -p=v -b=r -c=r -I=r --project-dir=v --build-file=r --init-script=r
mvn mvnw ant scons fab pre-commit docker-compose skaffold | -f=r -c=r --file=r --config=r
ctest | --test-dir=v
invoke | -c=r -r=v
composer | -d=v --working-dir=v
poetry uv pdm hatch mise rye pixi | -C=v --directory=v --project=v
nx turbo bazel | loose
meson | -,m*
kustomize | -,m*
pulumi | -C=v --cwd=v
act | -W=v -C=v --workflows=v --directory=v
npx | --prefix=v
make gmake ninja | @v -C=d -f=r -I=v -o=- -W=- --directory=d --file=r --makefile=r --include-dir=v
cmake | v* -S=v -B=w -P=r -C=r -G=- -D=- -T=- -A=- --build=v --install=v
cargo | -C=v --manifest-path=v --target-dir=w --config=-
npm pnpm yarn | --prefix=v -C=v --dir=v --cwd=v --userconfig=r
go | m,m,-* whole -C=v -o=w -modfile=r -overlay=r -coverprofile=w -cpuprofile=w -memprofile=w -trace=w
gcc g++ cc c++ c89 c99 cpp clang clang++ tcc | r* whole glue resp -o=w --output=w -I=v -L=v -include=r --include=r -imacros=r --imacros=r -MF=w -MT=- -MQ=- -x=- -D=- -U=- -l=- -T=r -u=- -aux-info=w -iquote=v -isystem=v -idirafter=v -Xlinker=h -Xassembler=h -Xpreprocessor=h -Wp,=h -Wa,=h -Wl,=h -dumpdir=F -dumpbase=w -dumpbase-ext=-
gofmt goimports | r* -w:rw -r=- -cpuprofile=w
openssl | whole -in=r -out=w -key=r -inkey=r -keyout=w -cert=r -CA=r -CAfile=r -CAkey=r -certfile=r -config=r -kfile=r -rand=r -passin=- -passout=- -writerand=w -CAserial=w -untrusted=r -extfile=r -signkey=r -sigfile=r -signature=r -sign=r
sops | m* --output=w --config=r
gpg gpg2 age | r* -o=w -r=- -u=- -i=r -R=r --output=w --recipient=- --identity=r --recipients-file=r --passphrase-file=r --homedir=F
ssh-keygen | -f=rw -s=r -C=- -N=- -P=- -t=- -b=-
ssh sftp | stop -i=r -F=r -E=w -S=v -o=- -p=- -P=- -l=- -b=r -L=- -R=- -D=- -J=- -c=- -m=- -W=-
sqlite3 | rw,-* whole -init=r --init=r -cmd=- --cmd=- -separator=- -nullvalue=- -newline=- -vfs=- -mmap=- -maxsize=- -lookaside=-- -pagecache=-- -nonce=- -append -ascii -bail -batch -box -column -csv -deserialize -echo -header -headers -noheader -html -interactive -json -jsonl -line -list -markdown -nofollow -quote -readonly -ro -safe -stats -table -tabs -version -zip -A
duckdb | rw,-* whole -init=r -cmd=- -c=- -s=- -f=r -separator=- -nullvalue=- -newline=- -ascii -bail -batch -box -column -csv -echo -header -noheader -html -interactive -json -jsonlines -latex -line -list -markdown -quote -readonly -safe -table -unredacted -unsigned -version
mysql mariadb | -* --tee=w --init-file=r --defaults-file=r --defaults-extra-file=r
mysqldump mariadb-dump | -* -r=w -T=F --result-file=w --tab=F --defaults-file=r --defaults-extra-file=r
mysqlimport mariadb-import | -,r* --defaults-file=r --defaults-extra-file=r
pg_dump pg_dumpall | -* -f=w --file=w -d=- -U=- -h=- -p=- -t=- -n=- -F=- -j=-
pg_restore | m* -f=w -L=r --file=w --use-list=r -d=- -U=- -h=- -p=- -t=- -n=- -F=- -j=-
mongoexport mongodump | -* -o=F --out=F
mongoimport mongorestore | m* --file=r --dir=v
psql | -f=r -o=w -L=w -d=- -U=- -h=- -p=- -c=- -v=- --file=r --output=w --log-file=w
pandoc | r* -o=w -f=- -t=- -H=r -B=r -A=r --output=w --from=- --to=- --template=r --log=w --extract-media=w
pip | m* -d=F --dest=F -r=r -c=r -t=w -e=v --requirement=r --constraint=r --target=w --editable=v
docker podman | --env-file=r --iidfile=w --cidfile=w
xargs | stop -a=r --arg-file=r -I=- -n=- -P=- -s=- -L=- -E=- -d=- --replace=- --max-args=- --max-procs=- --delimiter=-
env | stop -C=v -u=- -S=- --chdir=v --unset=- --split-string=-
strace ltrace | stop -o=w -e=- -p=- -s=- -u=- -E=- -P=- -a=- -b=- -S=- -I=- -O=- -X=- --output=w
time gtime | stop -o=w -f=- --output=w --format=-
flock | w stop -w=- -E=- -c=- --timeout=- --wait=- --conflict-exit-code=- --command=- -e -x -s -u -n -o -F --exclusive --shared --unlock --nonblock --nb --close --no-fork --verbose
script | w -c=- -O=w -I=w -B=w -T=w -E=- -o=- -m=- -t?w --timing?w --command=- --log-out=w --log-in=w --log-io=w --log-timing=w --echo=- --output-limit=- --logging-format=- -a -e -f -q --append --return --flush --force --quiet
crontab | r -u=-
mkfs mkfs.ext4 mkswap wipefs fdisk parted | w*
git diff git difftool git diff-files git diff-index git diff-tree | m* -O=r -S=- -G=- -U=- -l=- --output=w --no-index:all --format=- --diff-filter=-
git show git log git whatchanged git blame git annotate git cat-file git reflog git rev-list git shortlog git range-diff | m* -n=- -S=- -G=- -L=- -U=- -O=r --output=w --format=- --author=- --grep=- --since=- --until=- --contents=r --ignore-rev=- --ignore-revs-file=r
git grep | -,m* -e=-!m* -f=r!m* -m=- -A=- -B=- -C=- -O=- --max-depth=- --threads=- --no-index:all --untracked:all
git apply git am | r* +w -p=- -C=- --directory=- --exclude=- --include=- --check:r
git mv | rw*,W deep
git rm | w* deep --cached:index --pathspec-from-file=L
git checkout | M* deep -b=-! -B=-! --orphan=-! -t:! --track:! -d:! --detach:! -f:force --force:force --conflict=- --pathspec-from-file=L
git switch | -* -c=- -C=- --create=- --force-create=- --orphan=- --conflict=- -f:force --force:force --discard-changes:force
git read-tree | -* -u:+w --prefix=- --index-output=w
git restore | w* deep -s=- --source=- --conflict=- -S:index --staged:index -W:tree --worktree:tree --pathspec-from-file=L
git checkout-index | w* --prefix=F --stage=- -a:+w --all:+w --stdin:+w
git fast-export git fast-import | --export-marks=w --import-marks=r --import-marks-if-exists=r --export-pack-edges=w
git interpret-trailers | r* --in-place:rw --trailer=- --where=- --if-exists=- --if-missing=-
git merge-file | rw,r* -L=- --marker-size=- -p:!r* --stdout:!r* --object-id:! -q --quiet --ours --theirs --union --diff3 --zdiff3
git send-email git mailsplit git verify-pack git index-pack | r* -o=w
git credential-store | --file=rw
git clean | M* deep +w -e=- --exclude=-
git reset | --hard:+w --merge:+w --pathspec-from-file=r
git clone | -,w -b=- -o=- -u=- -c=- -j=- --branch=- --origin=- --depth=- --config=- --reference=v --reference-if-able=v --separate-git-dir=w --template=r --jobs=- --filter=- --server-option=- --shallow-since=- --shallow-exclude=- --bundle-uri=- --ref-format=- --revision=- --upload-pack=- -q -v -n -l -s --quiet --verbose --progress --bare --mirror --local --shared --no-checkout --no-hardlinks --single-branch --no-single-branch --no-tags --recursive --recurse-submodules --shallow-submodules --sparse --dissociate
git init | w @F -b=- --initial-branch=- --template=r --separate-git-dir=w --object-format=- --ref-format=- -q --quiet --bare --shared
git worktree | -,w -b=- -B=- --reason=- --expire=- -f -d -q --force --detach --lock --checkout --no-checkout --quiet --track --guess-remote --porcelain -v -z
git archive | -o=w --output=w --format=- --prefix=- --remote=- --add-file=r --add-virtual-file=-
git format-patch | -o=F --output-directory=F --signature-file=r
git bundle | -,w -q --quiet --progress --all --version=-
git hash-object | r*
git commit git tag git notes git merge git fmt-merge-msg | -F=r -t=r -m=- -C=- -c=- --file=r --template=r --message=- --pathspec-from-file=r
git config | -f=rw --file=rw
git mailinfo | w,w -k -b -u -m -n --encoding=- --scissors --no-scissors
sysctl | -* -p?r!r* --load?r!r* -r=- --pattern=-
msgfmt | r* -o=w --output-file=w -D=v -d=F -l=- --locale=- --directory=v
git bugreport git diagnose | -o=F --output-directory=F -s=- --suffix=- --mode=-
git add git stage | r* deep fresh @r -u:index --update:index -p:index --patch:index -i:index --interactive:index -e:index --edit:index -n:index --dry-run:index --refresh:index --renormalize:index -f:bold --force:bold --chmod=- --pathspec-from-file=l -A --all -N --intent-to-add
git update-index | r* --chmod=- --stdin:+r
`

// A fileSpec is the entry of one command.
type fileSpec struct {
	args    argList
	options []string // as they are written: a command has few of those there are
	words   []string // deep, stop, whole, vars, remote, shy, @v, @r, +w
}

func (s fileSpec) is(word string) bool { return slices.Contains(s.words, word) }

// option finds an option, and of two the later one.
func (s fileSpec) option(name string) (optionSpec, bool) {
	for i := len(s.options) - 1; i >= 0; i-- {
		if f := s.options[i]; strings.HasPrefix(f, name) && optionName(f) == name {
			return parseOption(f), true
		}
	}
	return optionSpec{}, false
}

// An optionSpec says what an option of a command does.
type optionSpec struct {
	name    string
	values  []string // what each value is; none for a flag
	args    *argList // what plain arguments are instead; nil: as before
	effect  string   // deep, bold, +w; or what is done with the starred arguments
	stopped bool     // what follows is another command
	glued   bool     // a value only stands in the same word
	onward  bool     // the arguments before it are as they were
}

// An argList says what the operands are: those at the beginning, all others, and those at the end.
type argList struct{ head, star, tail []string }

// A tableIndex is a hash index of the command names in the table, because a command line looks up a
// dozen and the table is long.
type tableIndex [1 << indexBits]uint16

const indexBits = 10

// newTableIndex goes once over the names of the table.
func newTableIndex() *tableIndex {
	var t tableIndex
	for at := 1; at < len(AccessTable); { // the first character ends no line
		end := at + strings.IndexByte(AccessTable[at:], '\n')
		for AccessTable[at] != '|' {
			name := nameAt(at)
			t[t.slot(name)] = uint16(at)
			at += len(name) + 1
		}
		at = end + 1
	}
	return &t
}

// nameAt is the name of a command that stands in the table. Those of git have
// two words.
func nameAt(at int) string {
	rest := AccessTable[at:]
	n := strings.IndexByte(rest, ' ')
	if rest[:n] == "git" {
		n += 1 + strings.IndexByte(rest[n+1:], ' ')
	}
	return rest[:n]
}

// slot is where a name stands in the index, or would.
func (t *tableIndex) slot(name string) uint32 {
	at := uint32(2166136261)
	for i := range len(name) {
		at = (at ^ uint32(name[i])) * 16777619
	}
	for at >>= 32 - indexBits; t[at] != 0 && nameAt(int(t[at])) != name; {
		at = (at + 1) % uint32(len(t))
	}
	return at
}

// spec returns the entry of a command.
func (t *tableIndex) spec(command string) (spec fileSpec, found bool) {
	at := t[t.slot(command)]
	if at == 0 {
		return spec, false
	}
	line, _, _ := strings.Cut(AccessTable[at:], "\n")
	_, does, _ := strings.Cut(line, " | ")
	return parseSpec(does), true
}

func parseSpec(text string) fileSpec {
	fields := strings.Fields(text)
	spec := fileSpec{options: fields[:0]}
	for i, f := range fields {
		switch {
		case strings.HasPrefix(f, "-") && len(f) > 1 && f[1] != ',' && f[1] != '*':
			spec.options = append(spec.options, f)
		case i == 0 && f[0] != '@' && f[0] != '+' && len(beforeComma(f)) < 4:
			spec.args = parseArgs(f)
		default:
			spec.words = append(spec.words, f)
		}
	}
	return spec
}

func parseArgs(list string) argList {
	var a argList
	for use := range strings.SplitSeq(list, ",") {
		switch starred, ok := strings.CutSuffix(use, "*"); {
		case use == "":
		case ok:
			a.star = []string{starred}
		case a.star == nil:
			a.head = append(a.head, use)
		default:
			a.tail = append(a.tail, use)
		}
	}
	return a
}

func beforeComma(s string) string {
	head, _, _ := strings.Cut(s, ",")
	return head
}

// optionName is the name of an option that is written as in the table.
func optionName(f string) string {
	if at := strings.IndexAny(f, "=:?!;"); at >= 0 {
		return f[:at]
	}
	return f
}

func parseOption(f string) optionSpec {
	o := optionSpec{name: optionName(f)}
	f = f[len(o.name):]
	if at := strings.IndexAny(f, "!;"); at >= 0 {
		list := f[at+1:]
		o.onward = f[at] == ';'
		if list == "stop" {
			o.stopped = true
			list = ""
		}
		args := parseArgs(list)
		o.args, f = &args, f[:at]
	}
	if f == "" {
		return o
	}
	sign, what := f[0], f[1:]
	o.glued = sign == '?'
	switch {
	case sign == ':':
		o.effect = what
	case what == "--" || what == "-r":
		o.values = strings.Split(what, "")
	default:
		o.values = []string{what}
	}
	if what == "b" {
		o.effect = "rw"
	}
	return o
}
