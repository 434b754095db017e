# Counts what ci/coverage.sh found, without what the file `list` names; fails below `least` per cent.
#
# A line of the list is: file | the line's text in it | reason. Text and not number, so that it still
# holds when something is written above. It stands for that line and for the branches on it. One that
# fits no line of the source is an error: it has been forgotten.

BEGIN {
    FS = "\t"
    while ((getline entry < list) > 0) {
        if (entry ~ /^#/ || entry == "") continue
        if (split(entry, part, " \\| ") != 3) fail("not of three parts: " entry)
        listed[part[1], part[2]] = entry
    }
    if (!length(listed)) fail("nothing in " list)
}

function fail(message) {
    print message
    bad = 1
}

# The text of each line of a source file, and which entries of the list are in it.
function read(file,    number, text) {
    known[file] = 1
    names[++files] = file
    while ((getline text < ("crates/ondeck/src/" file)) > 0) {
        gsub(/^[ \t]+|[ \t]+$/, "", text)
        source[file, ++number] = text
        if ((file, text) in listed) found[file, text] = 1
    }
}

{
    file = $1
    if (!(file in known)) read(file)
    kind = $3 == "-" ? "lines" : "branches"
    text = source[file, $2]
    if ((file, text) in listed) {
        left_out[file]++
        if ($4 > 0) reached[file, text] = 1; else missed[file, text] = 1
        next
    }
    total[file, kind]++
    all[kind]++
    if ($4 > 0) {
        run[file, kind]++
        all_run[kind]++
    } else {
        open[++opened] = sprintf("%s:%s %s  %s", file, $2, $3 == "-" ? "" : $3, text)
    }
}

function percent(run, total) {
    return total ? 100 * run / total : 100
}

function row(name, lines_run, lines, branches_run, branches, out) {
    printf "%-26s %5d of %5d  %6.2f %%   %4d of %4d  %6.2f %%   %4d\n", name, lines_run, lines,
        percent(lines_run, lines), branches_run, branches, percent(branches_run, branches), out
}

END {
    for (i = 1; i <= opened; i++) print "not run: " open[i]
    printf "\n%-26s %24s %24s %6s\n", "file", "lines", "branches", "listed"
    for (i = 1; i <= files; i++) {
        file = names[i]
        row(file, run[file, "lines"], total[file, "lines"], run[file, "branches"], total[file, "branches"], left_out[file])
        out += left_out[file]
    }
    row("all", all_run["lines"], all["lines"], all_run["branches"], all["branches"], out)
    for (place in listed) {
        if (!(place in found)) fail("no such line in the source any more: " listed[place])
        else if (!(place in missed)) print "listed, but run this time: " listed[place]
    }
    for (kind in all)
        if (percent(all_run[kind], all[kind]) < least) fail("less than " least " % of the " kind)
    if (!all["lines"] || !all["branches"]) fail("nothing was counted")
    exit bad
}
